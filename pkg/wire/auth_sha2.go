package wire

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
)

// What caching_sha2_password puts into the data of its packets.
const (
	SHA2RequestKey = 2 // client: send your public key
	SHA2FastOK     = 3 // server: the scramble matched what I remember
	SHA2FullAuth   = 4 // server: send the password itself, over TLS or encrypted
)

// SHA2Stage2 is SHA256(SHA256(password)), which a server remembers after a full authentication and which is enough
// to verify a scramble, though not to make one.
type SHA2Stage2 [sha256.Size]byte

// NewSHA2Stage2 computes the stage 2 of password.
func NewSHA2Stage2(password string) SHA2Stage2 {
	once := sha256.Sum256([]byte(password))
	return sha256.Sum256(once[:])
}

// ScrambleCachingSHA2 is what a client sends to prove that it knows password:
// SHA256(password) XOR SHA256(SHA256(SHA256(password)) + salt). The empty password gives nil.
func ScrambleCachingSHA2(password string, salt []byte) []byte {
	if password == "" {
		return nil
	}
	once := sha256.Sum256([]byte(password))
	mask := sha2Mask(sha256.Sum256(once[:]), salt)
	subtle.XORBytes(mask[:], mask[:], once[:])
	return mask[:]
}

// Verify reports whether scramble, sent by a client that was given salt, was made from the password of stage 2.
func (s SHA2Stage2) Verify(scramble, salt []byte) bool {
	if len(scramble) != sha256.Size {
		return false
	}
	once := sha2Mask(s, salt)
	subtle.XORBytes(once[:], once[:], scramble)
	got := sha256.Sum256(once[:])
	return subtle.ConstantTimeCompare(got[:], s[:]) == 1
}

func sha2Mask(stage2 SHA2Stage2, salt []byte) [sha256.Size]byte {
	var buf [64]byte
	return sha256.Sum256(append(append(buf[:0], stage2[:]...), salt...))
}

// EncryptPassword is the password as a client sends it without TLS: with its NUL, mixed with the salt, and encrypted
// for the server's key.
func EncryptPassword(password string, salt []byte, pub *rsa.PublicKey) ([]byte, error) {
	plain := append([]byte(password), 0)
	mixSalt(plain, salt)
	out, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, pub, plain, nil)
	if err != nil {
		return nil, fmt.Errorf("encrypt the password with the server's public key: %w", err)
	}
	return out, nil
}

// DecryptPassword undoes EncryptPassword. The error does not say what was wrong.
func DecryptPassword(cipher, salt []byte, key *rsa.PrivateKey) (string, error) {
	plain, err := rsa.DecryptOAEP(sha1.New(), nil, key, cipher, nil)
	if err != nil || len(plain) == 0 {
		return "", malformed("encrypted password")
	}
	mixSalt(plain, salt)
	if plain[len(plain)-1] != 0 {
		return "", malformed("encrypted password")
	}
	return string(plain[:len(plain)-1]), nil
}

func mixSalt(b, salt []byte) {
	if len(salt) == 0 {
		return
	}
	for i := range b {
		b[i] ^= salt[i%len(salt)]
	}
}
