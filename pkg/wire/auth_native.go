package wire

import (
	"crypto/sha1"
	"crypto/subtle"
	"encoding/hex"
	"strings"
)

// The plugins Skarv speaks on both sides, by the names the protocol gives them.
const (
	NativePassword      = "mysql_native_password"
	CachingSHA2Password = "caching_sha2_password"
	ClearPassword       = "mysql_clear_password"
)

// SaltLen is the length of the random bytes a server sends for a password to be scrambled with.
const SaltLen = 20

// HashNative returns the authentication string that mysql_native_password keeps for password: "*" and 40 hex
// digits, or "" for the empty password.
func HashNative(password string) string {
	if password == "" {
		return ""
	}
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	return "*" + strings.ToUpper(hex.EncodeToString(twice[:]))
}

// VerifyNative reports whether password is the one authString was made from.
func VerifyNative(authString, password string) bool {
	return subtle.ConstantTimeCompare([]byte(strings.ToUpper(authString)), []byte(HashNative(password))) == 1
}

// ScrambleNative is what a client sends to prove that it knows password:
// SHA1(password) XOR SHA1(salt + SHA1(SHA1(password))). The empty password gives nil.
func ScrambleNative(password string, salt []byte) []byte {
	if password == "" {
		return nil
	}
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	mask := nativeMask(salt, twice)
	subtle.XORBytes(mask[:], mask[:], once[:])
	return mask[:]
}

// VerifyNativeScramble reports whether scramble, sent by a client that was given salt, was made from the password of
// authString. A damaged authString matches nothing; an empty one only an empty scramble.
func VerifyNativeScramble(authString string, scramble, salt []byte) bool {
	if authString == "" || len(scramble) == 0 {
		return authString == "" && len(scramble) == 0
	}
	var twice [sha1.Size]byte
	ok := len(authString) == 1+2*sha1.Size && authString[0] == '*' && len(scramble) == sha1.Size
	if !ok {
		return false
	}
	if _, err := hex.Decode(twice[:], []byte(authString[1:])); err != nil {
		return false
	}
	once := nativeMask(salt, twice)
	subtle.XORBytes(once[:], once[:], scramble)
	got := sha1.Sum(once[:])
	return subtle.ConstantTimeCompare(got[:], twice[:]) == 1
}

func nativeMask(salt []byte, twice [sha1.Size]byte) [sha1.Size]byte {
	var buf [64]byte
	return sha1.Sum(append(append(buf[:0], salt...), twice[:]...))
}
