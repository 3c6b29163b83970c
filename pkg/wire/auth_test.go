package wire

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSHA256CryptAgreesWithItsSpecification(t *testing.T) {
	for _, v := range []struct {
		password, salt string
		rounds         int
		want           string
	}{
		{"Hello world!", "saltstring", 5000, "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"},
		{"Hello world!", "saltstringsaltst", 10000, "3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA"},
		{"we have a short salt string but not a short password", "short", 77777, "JiO1O3ZpDAxGJeaDIuqCoEFysAe1mZNJRs3pw0KQRd/"},
		{"a very much longer text to encrypt.  This one even stretches over morethan one line.", "anotherlongsalts", 1400, "Rx.j8H.h8HjEDGomFU8bDkXm3XIUnzyxf12oP84Bnq1"},
	} {
		assert.Equal(t, v.want, string(sha256Crypt([]byte(v.password), []byte(v.salt), v.rounds)), v.password)
	}
}

// What MySQL 9.7 wrote into mysql.user.
func TestCachingSHA2HashOfMySQL(t *testing.T) {
	for stored, password := range map[string]string{
		"244124303041247D1E155072011D0C623D6A53703239374D5B2B164B696C7A6159356745644C75453475794C6E4C336C767237577850774C425A716A6C526D72494B61686D30": "secret",
		"2441243030412419520B470B0E0A28372573530C2D4A096D78133C346F7739694D4A5273756A7567514A4C6A73336F4F476A7652344946726B574D79754F587071385A625144": "a much longer password, longer than thirty-two bytes",
	} {
		b, err := hex.DecodeString(stored)
		require.NoError(t, err)
		assert.True(t, VerifyCachingSHA2(string(b), password))
		assert.False(t, VerifyCachingSHA2(string(b), password+"."))
	}
}

func TestCachingSHA2Hash(t *testing.T) {
	for _, pw := range []string{"x", "secret", "a much longer password that is more than two digests long: " + strings.Repeat("0123456789", 5), strings.Repeat("p", MaxPassword)} {
		h, err := HashCachingSHA2(pw)
		require.NoError(t, err)
		require.Len(t, h, 70)
		require.True(t, strings.HasPrefix(h, "$A$005$"), h)
		assert.NoError(t, CheckAuthString(CachingSHA2Password, h))
		assert.True(t, VerifyCachingSHA2(h, pw))
		assert.False(t, VerifyCachingSHA2(h, pw+"x"))
		assert.False(t, VerifyCachingSHA2(h, ""))
	}
	h, err := HashCachingSHA2("")
	require.NoError(t, err)
	assert.Empty(t, h)
	assert.True(t, VerifyCachingSHA2("", ""))
	assert.False(t, VerifyCachingSHA2("", "x"))
	_, err = HashCachingSHA2(strings.Repeat("p", MaxPassword+1))
	assert.Error(t, err)
	for _, bad := range []string{"$A$", "$5$005$" + strings.Repeat("a", 63), "$A$000$" + strings.Repeat("a", 63), "$A$zzz$" + strings.Repeat("a", 63), "*0123"} {
		assert.Error(t, CheckAuthString(CachingSHA2Password, bad), bad)
		assert.False(t, VerifyCachingSHA2(bad, "x"), bad)
	}
}

func TestNativeHashAndScramble(t *testing.T) {
	// SELECT PASSWORD('mypass') on MariaDB.
	assert.Equal(t, "*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4", HashNative("mypass"))
	assert.Empty(t, HashNative(""))
	assert.True(t, VerifyNative(strings.ToLower(HashNative("a")), "a"))
	assert.False(t, VerifyNative(HashNative("a"), "b"))
	salt := []byte("01234567890123456789")
	h := HashNative("mypass")
	assert.True(t, VerifyNativeScramble(h, ScrambleNative("mypass", salt), salt))
	assert.False(t, VerifyNativeScramble(h, ScrambleNative("mypass", salt), []byte("11234567890123456789")))
	assert.False(t, VerifyNativeScramble(h, ScrambleNative("other", salt), salt))
	assert.False(t, VerifyNativeScramble(h, nil, salt))
	assert.False(t, VerifyNativeScramble("", ScrambleNative("mypass", salt), salt))
	assert.True(t, VerifyNativeScramble("", nil, salt))
	assert.False(t, VerifyNativeScramble("*zz", ScrambleNative("mypass", salt), salt))
	assert.Error(t, CheckAuthString(NativePassword, "*zz"))
	assert.NoError(t, CheckAuthString(NativePassword, h))
	assert.Error(t, CheckAuthString("dialog", h))
}

func TestCachingSHA2Scramble(t *testing.T) {
	salt := []byte("01234567890123456789")
	s := NewSHA2Stage2("secret")
	assert.True(t, s.Verify(ScrambleCachingSHA2("secret", salt), salt))
	assert.False(t, s.Verify(ScrambleCachingSHA2("secreT", salt), salt))
	assert.False(t, s.Verify(ScrambleCachingSHA2("secret", salt)[:31], salt))
	assert.False(t, s.Verify(nil, salt))
	assert.Nil(t, ScrambleCachingSHA2("", salt))
}

func TestPasswordEncryption(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	salt := []byte("01234567890123456789")
	for _, pw := range []string{"", "x", strings.Repeat("long", 40)} {
		c, err := EncryptPassword(pw, salt, &key.PublicKey)
		require.NoError(t, err)
		got, err := DecryptPassword(c, salt, key)
		require.NoError(t, err)
		assert.Equal(t, pw, got)
		c[3] ^= 1
		_, err = DecryptPassword(c, salt, key)
		assert.Error(t, err)
	}
	_, err = EncryptPassword(strings.Repeat("p", 300), salt, &key.PublicKey)
	assert.Error(t, err)
	_, err = DecryptPassword([]byte("short"), salt, key)
	assert.Error(t, err)
}
