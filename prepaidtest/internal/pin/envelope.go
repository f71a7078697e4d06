package pin

import (
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Identity is the operator's key pair with its certificate.
type Identity struct {
	key         *rsa.PrivateKey
	certificate []byte // DER
}

// newPINIdentity takes about 0.1 s, so it is called when an identity is first needed.
func newPINIdentity() (*Identity, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "PIN change"},
		NotBefore: now.AddDate(-1, 0, 0), NotAfter: now.AddDate(10, 0, 0), KeyUsage: x509.KeyUsageKeyEncipherment,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &Identity{key: key, certificate: der}, nil
}

// makeIdentity makes the identity unless it was restored. Call makeIdentity only through the field key.
func (s *PINs) makeIdentity() (*Identity, error) {
	v := s.ledger.RLock()
	restored := s.identity
	v.RUnlock()
	if restored != nil {
		return restored, nil
	}
	made, err := newPINIdentity()
	if err != nil {
		return nil, err
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	s.identity = made
	return made, nil
}

// CertificatePEM returns the certificate in PEM.
func (i *Identity) CertificatePEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.certificate})
}

// Fingerprint is the SHA-256 of the certificate in lower hex.
func (i *Identity) Fingerprint() string {
	sum := sha256.Sum256(i.certificate)
	return hex.EncodeToString(sum[:])
}

// envelope is the encrypted part of a PIN request (4.7), decoded from hex.
type envelope struct {
	Data        hexBytes `json:"encrypted_data"`
	Key         hexBytes `json:"encrypted_key"`
	IV          hexBytes `json:"iv"`
	Fingerprint string   `json:"public_key_fingerprint"`
	Hash        string   `json:"oaep_hashing_algorithm"` // default SHA256
}

type hexBytes []byte

// UnmarshalText implements encoding.TextUnmarshaler. A lenient server accepts other text, but cannot decrypt it.
func (b *hexBytes) UnmarshalText(text []byte) error {
	*b, _ = hex.DecodeString(string(text))
	return nil
}

// open decrypts the envelope; its errors name the wrong part.
func (e *envelope) open(identity *Identity, mgf1 crypto.Hash) (otp, pin string, err error) {
	if !strings.EqualFold(e.Fingerprint, identity.Fingerprint()) { // hex, in lower or upper case
		return "", "", errors.New("public_key_fingerprint is not that of the certificate")
	}
	hash := crypto.SHA256
	if e.Hash == "SHA512" {
		hash = crypto.SHA512
	}
	key, err := identity.key.Decrypt(nil, e.Key, &rsa.OAEPOptions{Hash: hash, MGFHash: mgf1}) // MGFHash 0 means the same hash
	if err != nil {
		return "", "", errors.New("encrypted_key cannot be decrypted")
	}
	if len(key) != 16 {
		return "", "", errors.New("encrypted_key is not a key of 128 bits")
	}
	if len(e.IV) != aes.BlockSize {
		return "", "", errors.New("iv must have 16 bytes")
	}
	if len(e.Data) == 0 || len(e.Data)%aes.BlockSize != 0 {
		return "", "", errors.New("encrypted_data is not a number of whole blocks")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return "", "", errors.New("encrypted_key is not a key of 128 bits")
	}
	plain := make([]byte, len(e.Data))
	cipher.NewCBCDecrypter(block, e.IV).CryptBlocks(plain, e.Data)
	return payload(plain)
}

// payload strips the PKCS#7 padding and reads the two members.
func payload(plain []byte) (otp, pin string, err error) {
	wrong := errors.New("encrypted_data does not hold the payload")
	padding := int(plain[len(plain)-1])
	if padding == 0 || padding > aes.BlockSize {
		return "", "", wrong
	}
	for _, c := range plain[len(plain)-padding:] {
		if int(c) != padding {
			return "", "", wrong
		}
	}
	members, err := wire.ParseObject(plain[:len(plain)-padding])
	if err != nil || len(members) != 2 {
		return "", "", wrong
	}
	for name, into := range map[string]*string{"otp": &otp, "pin": &pin} {
		// A null would pass Unmarshal.
		if raw := members[name]; len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, into) != nil {
			return "", "", wrong
		}
	}
	return otp, pin, nil
}
