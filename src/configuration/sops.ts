import {
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
} from 'node:crypto';
import { bech32 } from '@scure/base';
import { parseDocument } from 'yaml';

/**
 * Reads files that SOPS has encrypted for age keys (https://getsops.io, https://age-encryption.org/v1): YAML or JSON of one
 * document, for recipients of the type X25519. A secret is opened synchronously, like the other references to secrets, and the
 * package for age is asynchronous; therefore the few steps of its format are here, and the cryptography is that of Node.
 */

/** A file that cannot be decrypted. `message` says why, and contains no value of the file. */
export class SopsError extends Error {}

/** One value of a file, and the keys that lead to it. `isItem`: it is in a list, whose items have no keys. */
interface Leaf {
  readonly path: readonly string[];
  readonly value: string | number | bigint | boolean;
  readonly isItem: boolean;
}

const AGE_INTRO = 'age-encryption.org/v1';
const KEY_BYTES = 32;
const TAG_BYTES = 16;
const PAYLOAD_NONCE_BYTES = 16;
/** DER of an X25519 key before its 32 bytes. */
const PRIVATE_KEY_DER = Buffer.from('302e020100300506032b656e04220420', 'hex');
const PUBLIC_KEY_DER = Buffer.from('302a300506032b656e032100', 'hex');
/** SOPS hashes these bytes first if the code covers only encrypted values, so that the two kinds of codes always differ. */
const ONLY_ENCRYPTED = Buffer.from('8a3fd2ad54ce66527b1034f3d147be0b0b975b3bf44f72c6fdadec8176f27d69', 'hex');
const VALUE = /^ENC\[AES256_GCM,data:([^,]*),iv:([^,]+),tag:([^,]+),type:([a-z]+)\]$/;

/**
 * Decrypts a file, and verifies its message authentication code, which covers all values in their order.
 * @param text the content of the file.
 * @param identities text with age identities (`AGE-SECRET-KEY-1…`), one per line, as `age-keygen` writes them.
 * @returns the encrypted values, by their keys joined with dots.
 * @throws SopsError
 */
export function decryptSops(text: string, identities: string): ReadonlyMap<string, string> {
  const parsed = parseDocument(text, { intAsBigInt: true });
  // A map keeps the order of keys, which the code covers; an object would put keys that are numbers first.
  const tree: unknown = parsed.errors.length > 0 ? undefined : parsed.toJS({ mapAsMap: true });
  const metadata: unknown = tree instanceof Map ? tree.get('sops') : undefined;
  if (!(tree instanceof Map) || !(metadata instanceof Map))
    throw new SopsError('it is not YAML or JSON that SOPS has encrypted (there is no key "sops")');
  tree.delete('sops');
  const key = dataKey(metadata.get('age'), identities);
  const onlyEncrypted = metadata.get('mac_only_encrypted') === true;
  const hash = createHash('sha512').update(onlyEncrypted ? ONLY_ENCRYPTED : '');
  const values = new Map<string, string>();
  for (const { path, value, isItem } of leavesOf(tree, [], false)) {
    const isEncrypted = typeof value === 'string' && value.startsWith('ENC[');
    const plain = isEncrypted ? decryptValue(value, key, `${path.join(':')}:`) : plainText(value);
    if (isEncrypted || !onlyEncrypted) hash.update(plain);
    if (isEncrypted && !isItem) values.set(path.join('.'), plain);
  }
  const code = decryptValue(String(metadata.get('mac')), key, String(metadata.get('lastmodified')));
  if (code !== hash.digest('hex').toUpperCase())
    throw new SopsError('its message authentication code does not match: a value was changed without SOPS');
  return values;
}

function* leavesOf(node: unknown, path: readonly string[], isItem: boolean): Generator<Leaf> {
  if (node instanceof Map) for (const [name, value] of node) yield* leavesOf(value, [...path, String(name)], isItem);
  else if (Array.isArray(node)) for (const item of node) yield* leavesOf(item, path, true);
  else if (
    typeof node === 'string' ||
    typeof node === 'number' ||
    typeof node === 'bigint' ||
    typeof node === 'boolean'
  )
    yield { path, value: node, isItem };
}

/** Returns a value as SOPS hashes it. */
function plainText(value: Leaf['value']): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return String(value);
}

function decryptValue(value: string, key: Uint8Array, place: string): string {
  const [, data = '', iv = '', tag = '', type = ''] = VALUE.exec(value) ?? [];
  if (tag === '') throw new SopsError(`the value at ${place} is not in the format of SOPS`);
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64'), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(place)).setAuthTag(Buffer.from(tag, 'base64'));
  try {
    const plain = decipher.update(data, 'base64', 'utf8') + decipher.final('utf8');
    return type === 'bool' ? plainText(/^true$/i.test(plain)) : plain;
  } catch (error) {
    throw new SopsError(`the value at ${place} was changed, or was moved from another key`, { cause: error });
  }
}

/** Returns the key of the values, which is encrypted for each recipient. */
function dataKey(recipients: unknown, text: string): Uint8Array {
  const encrypted = (Array.isArray(recipients) ? recipients : []).flatMap((recipient: unknown) =>
    recipient instanceof Map && typeof recipient.get('enc') === 'string' ? [recipient.get('enc') as string] : [],
  );
  if (encrypted.length === 0) throw new SopsError('it is not encrypted for an age key (sops.age is empty)');
  const identities = text.split('\n').flatMap((line) => identityOf(line.trim()));
  if (identities.length === 0) throw new SopsError('there is no age identity (a line AGE-SECRET-KEY-1…)');
  for (const armored of encrypted) {
    for (const identity of identities) {
      const key = decryptAge(armored, identity);
      if (key !== undefined) return key;
    }
  }
  throw new SopsError(
    `no age identity matches its recipients (identities: ${identities.length}, recipients: ${encrypted.length}; only X25519 is supported)`,
  );
}

function identityOf(line: string): readonly Uint8Array[] {
  if (!line.startsWith('AGE-SECRET-KEY-1')) return [];
  const decoded = bech32.decodeUnsafe(line.toLowerCase(), false);
  const bytes = decoded === undefined ? undefined : bech32.fromWordsUnsafe(decoded.words);
  if (bytes?.length !== KEY_BYTES) throw new SopsError('an age identity is misspelt or cut off');
  return [Uint8Array.from(bytes)];
}

/** Decrypts a small age file (one chunk). @returns undefined: it is for other identities. */
function decryptAge(armored: string, identity: Uint8Array): Uint8Array | undefined {
  const file = Buffer.from(armored.replaceAll(/-----[A-Z ]+-----/g, ''), 'base64');
  const end = file.indexOf('\n', file.indexOf('\n--- ') + 1);
  const header = file.subarray(0, end).toString('latin1');
  if (!header.startsWith(`${AGE_INTRO}\n`)) throw new SopsError('an entry of sops.age is not an age file');
  const fileKey = unwrapped(header, identity);
  if (fileKey === undefined) return undefined;
  const codeAt = header.lastIndexOf('--- ') + '---'.length;
  const code = createHmac('sha256', derived(fileKey, '', 'header'))
    .update(header.slice(0, codeAt), 'latin1')
    .digest();
  if (!code.equals(Buffer.from(header.slice(codeAt), 'base64')))
    throw new SopsError('an entry of sops.age was changed');
  const payload = file.subarray(end + 1);
  const streamKey = derived(fileKey, payload.subarray(0, PAYLOAD_NONCE_BYTES), 'payload');
  // The first chunk, 0, is the last one, too.
  return opened(payload.subarray(PAYLOAD_NONCE_BYTES), streamKey, Buffer.from(`${'00'.repeat(11)}01`, 'hex'));
}

/** Returns the key of an age file from the stanza for this identity. */
function unwrapped(header: string, identity: Uint8Array): Uint8Array | undefined {
  const privateKey = createPrivateKey({
    key: Buffer.concat([PRIVATE_KEY_DER, identity]),
    format: 'der',
    type: 'pkcs8',
  });
  const ours = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(PUBLIC_KEY_DER.length);
  for (const [, share = '', body = ''] of header.matchAll(/^-> X25519 (\S+)\n(\S+)$/gm)) {
    const theirs = Buffer.from(share, 'base64');
    if (theirs.length !== KEY_BYTES) continue;
    const publicKey = createPublicKey({ key: Buffer.concat([PUBLIC_KEY_DER, theirs]), format: 'der', type: 'spki' });
    const secret = diffieHellman({ privateKey, publicKey });
    const wrapKey = derived(secret, Buffer.concat([theirs, ours]), `${AGE_INTRO}/X25519`);
    const key = opened(Buffer.from(body, 'base64'), wrapKey, Buffer.alloc(12));
    if (key !== undefined) return key;
  }
  return undefined;
}

function derived(key: Uint8Array, salt: Uint8Array | string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, purpose, KEY_BYTES));
}

/** Opens text that is sealed with ChaCha20-Poly1305. @returns undefined: it was sealed with another key. */
function opened(sealed: Buffer, key: Buffer, nonce: Buffer): Uint8Array | undefined {
  if (sealed.length < TAG_BYTES) return undefined;
  const decipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}
