// Seals a one-time password and a new PIN for the operator, in browsers and in Node 20 or later. See pin.md.

// sealPIN returns an envelope as prepaid.PINEnvelope reads it. The certificate is PEM text or DER bytes. The hash is that of
// OAEP and of its mask function: SHA256 or SHA512.
export async function sealPIN(certificate, otp, pin, hash = 'SHA256') {
  if (![otp, pin].every((value) => typeof value === 'string' && value)) {
    throw new TypeError('otp and pin must be strings, and not empty'); // a number would lose its leading zeros
  }
  const { subtle } = crypto;
  const der = typeof certificate === 'string' ? fromPEM(certificate) : new Uint8Array(certificate);
  const oaep = { name: 'RSA-OAEP', hash: { SHA256: 'SHA-256', SHA512: 'SHA-512' }[hash] };
  const operator = await subtle.importKey('spki', publicKey(der), oaep, false, ['wrapKey']);
  const key = await subtle.generateKey({ name: 'AES-CBC', length: 128 }, true, ['encrypt']);
  const iv = crypto.getRandomValues(new Uint8Array(16));
  const payload = new TextEncoder().encode(JSON.stringify({ otp, pin }));
  return {
    encrypted_data: hex(await subtle.encrypt({ name: 'AES-CBC', iv }, key, payload)), // pads as PKCS#7
    public_key_fingerprint: hex(await subtle.digest('SHA-256', der)),
    encrypted_key: hex(await subtle.wrapKey('raw', key, operator, 'RSA-OAEP')),
    oaep_hashing_algorithm: hash,
    iv: hex(iv),
  };
}

function hex(bytes) {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

// fromPEM decodes the first certificate. It never skips a damaged one: the next is that of the issuer.
function fromPEM(text) {
  const [, base64] = /^([^-]+)-----END CERTIFICATE-----/.exec(text.split('-----BEGIN CERTIFICATE-----')[1]) ?? [];
  if (!base64) throw new TypeError('certificate must have a well-formed PEM block of type CERTIFICATE');
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

// publicKey returns the SubjectPublicKeyInfo, which follows version, serial number, signature algorithm, issuer, validity and
// subject. A certificate of X.509 version 1 has no version field.
function publicKey(der) {
  const { content, end } = element(der, 0);
  if (end !== der.length) throw new TypeError('certificate must be X.509: PEM as text, or DER as bytes');
  let at = element(der, content).content;
  for (let skip = der[at] === 0xa0 ? 6 : 5; skip > 0; skip--) at = element(der, at).end;
  return der.subarray(at, element(der, at).end);
}

// element returns the offsets of an element's content and end. A length of 128 or more has its number of bytes first.
function element(der, at) {
  let content = at + 2;
  let length = der[at + 1];
  if (length > 0x80) {
    const bytes = der.subarray(content, content + length - 0x80);
    content += bytes.length;
    length = bytes.reduce((value, byte) => value * 256 + byte, 0);
  }
  return { content, end: content + length };
}
