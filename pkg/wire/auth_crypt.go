package wire

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"skarv/pkg/sqlerr"
)

// caching_sha2_password keeps a password as "$A$" + rounds/1000 in three hex digits + "$" + salt (20 bytes) + digest
// (43 characters): the SHA-256 variant of crypt(3), with a longer salt and its own frame.
const (
	cryptPrefix    = "$A$"
	cryptRounds    = 5000
	cryptDigestLen = 43
	cryptAlphabet  = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// MaxPassword is the longest password caching_sha2_password takes, in bytes. The digest's cost grows with the length, so
// what a stranger sends is cut off here.
const MaxPassword = 256

// HashCachingSHA2 returns the authentication string that caching_sha2_password keeps for password, with a fresh
// salt; "" for the empty password. It takes milliseconds, on purpose.
func HashCachingSHA2(password string) (authString string, err error) {
	if password == "" {
		return "", nil
	}
	if len(password) > MaxPassword {
		return "", sqlerr.WrongArguments.New(fmt.Sprintf("password: longer than %d bytes", MaxPassword))
	}
	salt := make([]byte, SaltLen)
	rand.Read(salt)
	for i, b := range salt {
		salt[i] = cryptAlphabet[b%64]
	}
	return fmt.Sprintf("%s%03X$%s%s", cryptPrefix, cryptRounds/1000, salt, sha256Crypt([]byte(password), salt, cryptRounds)), nil
}

// VerifyCachingSHA2 reports whether password is the one authString was made from. It takes as long as HashCachingSHA2;
// with a damaged authString it returns false at once.
func VerifyCachingSHA2(authString, password string) bool {
	if authString == "" || password == "" {
		return authString == "" && password == ""
	}
	salt, digest, rounds, err := parseCrypt(authString)
	if err != nil || len(password) > MaxPassword {
		return false
	}
	got := sha256Crypt([]byte(password), []byte(salt), rounds)
	return subtle.ConstantTimeCompare(got, []byte(digest)) == 1
}

// CheckAuthString reports what is wrong with authString as what plugin keeps, nil if nothing is.
func CheckAuthString(plugin, authString string) error {
	if authString == "" {
		return nil
	}
	switch plugin {
	case CachingSHA2Password:
		_, _, _, err := parseCrypt(authString)
		return err
	case NativePassword:
		if len(authString) != 41 || authString[0] != '*' || strings.Trim(authString[1:], "0123456789abcdefABCDEF") != "" {
			return fmt.Errorf("authentication string of %s: want * and 40 hex digits", plugin)
		}
		return nil
	}
	return fmt.Errorf("authentication plugin %q is not supported", plugin)
}

func parseCrypt(authString string) (salt, digest string, rounds int, err error) {
	const want = "authentication string of " + CachingSHA2Password + ": want $A$, three hex digits, $, 20 bytes of salt and 43 of digest"
	rest, ok := strings.CutPrefix(authString, cryptPrefix)
	if !ok || len(rest) != 4+SaltLen+cryptDigestLen || rest[3] != '$' {
		return "", "", 0, errors.New(want)
	}
	k, err := strconv.ParseUint(rest[:3], 16, 12)
	if err != nil || k == 0 {
		return "", "", 0, errors.New(want)
	}
	return rest[4 : 4+SaltLen], rest[4+SaltLen:], int(k) * 1000, nil
}

// sha256Crypt is the digest part of crypt(3)'s "$5$" scheme (Ulrich Drepper's specification, in the public domain);
// the numbers in comments are the specification's steps.
func sha256Crypt(password, salt []byte, rounds int) []byte {
	const size = sha256.Size
	h := sha256.New()
	repeat := func(block [size]byte, n int) { // adds n bytes of block over and over
		for ; n > size; n -= size {
			h.Write(block[:])
		}
		h.Write(block[:n])
	}
	var a, b, dp, ds [size]byte

	h.Write(password) // 4-8
	h.Write(salt)
	h.Write(password)
	h.Sum(b[:0])

	h.Reset() // 1-3, 9-12
	h.Write(password)
	h.Write(salt)
	repeat(b, len(password))
	for n := len(password); n > 0; n >>= 1 {
		if n&1 != 0 {
			h.Write(b[:])
		} else {
			h.Write(password)
		}
	}
	h.Sum(a[:0])

	h.Reset() // 13-16
	for range password {
		h.Write(password)
	}
	h.Sum(dp[:0])
	p := fill(make([]byte, len(password)), dp[:])

	h.Reset() // 17-20
	for range 16 + int(a[0]) {
		h.Write(salt)
	}
	h.Sum(ds[:0])
	s := fill(make([]byte, len(salt)), ds[:])

	for i := range rounds { // 21
		h.Reset()
		if i&1 != 0 {
			h.Write(p)
		} else {
			h.Write(a[:])
		}
		if i%3 != 0 {
			h.Write(s)
		}
		if i%7 != 0 {
			h.Write(p)
		}
		if i&1 != 0 {
			h.Write(a[:])
		} else {
			h.Write(p)
		}
		h.Sum(a[:0])
	}

	out := make([]byte, 0, cryptDigestLen) // 22
	emit := func(x, y, z byte, n int) {
		for v := uint(x)<<16 | uint(y)<<8 | uint(z); n > 0; n-- {
			out = append(out, cryptAlphabet[v&63])
			v >>= 6
		}
	}
	// Three bytes, ten apart, make four characters; each next triple starts where the specification's rotation says.
	for x, y, z, n := 0, 10, 20, 0; n < 10; n++ {
		emit(a[x], a[y], a[z], 4)
		x, y, z = z+1, x+1, y+1
	}
	emit(0, a[31], a[30], 3)
	return out
}

// fill repeats block over all of dst.
func fill(dst, block []byte) []byte {
	for n := 0; n < len(dst); {
		n += copy(dst[n:], block)
	}
	return dst
}
