package mysqlconn

import (
	"crypto/sha512"

	"filippo.io/edwards25519"
)

// ed25519Plugin is MariaDB's: the password, hashed, is the secret key that signs the server's random bytes. It is not
// standard Ed25519, which derives that hash from a random seed of 32 bytes.
const (
	ed25519Plugin = "client_ed25519"
	ed25519Salt   = 32
)

func signEd25519(password string, message []byte) []byte {
	hash := sha512.Sum512([]byte(password))
	secret, err := edwards25519.NewScalar().SetBytesWithClamping(hash[:32])
	if err != nil {
		panic(err) // the length is right
	}
	public := edwards25519.NewIdentityPoint().ScalarBaseMult(secret).Bytes()
	nonce := reduced(hash[32:], message)
	point := edwards25519.NewIdentityPoint().ScalarBaseMult(nonce).Bytes()
	challenge := reduced(point, public, message)
	proof := edwards25519.NewScalar().MultiplyAdd(challenge, secret, nonce)
	return append(point, proof.Bytes()...)
}

// reduced is the hash of the parts as a scalar.
func reduced(parts ...[]byte) *edwards25519.Scalar {
	h := sha512.New()
	for _, p := range parts {
		h.Write(p)
	}
	s, err := edwards25519.NewScalar().SetUniformBytes(h.Sum(nil))
	if err != nil {
		panic(err) // the length is right
	}
	return s
}
