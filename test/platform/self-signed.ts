import { generateKeyPairSync, sign } from 'node:crypto';

export interface SelfSigned {
  readonly certPem: string;
  readonly keyPem: string;
}

/**
 * A fresh self-signed certificate for 127.0.0.1, so that no private key ever stands in the repository.
 * @param hosts further names that it is for.
 */
export function selfSigned(hosts: readonly string[] = []): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from('portolan test')))));
  const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const validity = sequence(utcTime('200101000000Z'), utcTime('491231235959Z'));
  const names = [der(0x87, Buffer.from([127, 0, 0, 1])), ...hosts.map((host) => der(0x82, Buffer.from(host)))];
  const subjectAltName = sequence(oid(0x55, 0x1d, 0x11), octets(sequence(...names)));
  const basicConstraints = sequence(oid(0x55, 0x1d, 0x13), octets(sequence(der(0x01, Buffer.from([0xff])))));
  const body = sequence(
    der(0xa0, integer(2)), // version 3
    integer(1),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(subjectAltName, basicConstraints)),
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]));
  const text = sequence(body, ecdsaWithSha256, signature).toString('base64').replace(/.{64}/g, '$&\n');
  return {
    certPem: `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`,
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...(length < 128 ? [length] : long)]), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts));
const set = (...parts: readonly Buffer[]): Buffer => der(0x31, Buffer.concat(parts));
const oid = (...bytes: readonly number[]): Buffer => der(0x06, Buffer.from(bytes));
const integer = (value: number): Buffer => der(0x02, Buffer.from([value]));
const octets = (content: Buffer): Buffer => der(0x04, content);
const utcTime = (text: string): Buffer => der(0x17, Buffer.from(text));
