import { isMap, isScalar, isSeq } from 'yaml';
import type { Mask } from './fault.ts';
import { spanOf, textOfScalar } from './values.ts';

/** Where documents come from: `manifest` is a source, `operator` the configuration file. */
export type Trust = 'manifest' | 'operator';

const NAMES = 'access_?key|ssh_?key|token|password|passwd|secret|api_?key|authorization|private_?key';
const SECRET_KEY = new RegExp(`^(?:${NAMES})$`, 'i');
const SECRET_LINE = new RegExp(`(?:^|[\\s{,"'])(?:${NAMES}|value|urlFrom)["']?[ \\t]*:[ \\t]*([^\\s{].*)$`, 'gim');

/** True for the name of a field that people give to secrets. */
export function isSecretName(name: string): boolean {
  return SECRET_KEY.test(name);
}

const USER_INFO = /(?<=:\/\/)[^\s/@"']+(?=@)/g;
/** In double quotes a slash may be written with a backslash. */
const BEHIND_HOST = /(?<=:\\?\/\\?\/[^\s/?#"'\\]*\\?[/?#])[^\s"',]+(?:,[^\s"',]+)*/g;
const BEHIND_BARE_HOST = /(?<=^[^\s/?#:]+(?::\d+)?[/?#]).+$/s;

/** True for the name of a field that holds an address and nothing else. */
export function isAddressName(name: string): boolean {
  return name === 'url' || name === 'link';
}

/** Of addresses only scheme and host: what else stands in one may be a credential, as the path of a Slack webhook is. */
export function shownAddresses(text: string): string {
  return text.replace(USER_INFO, '***').replace(BEHIND_HOST, '***');
}

/** As `shownAddresses`, for what is an address even where the scheme was forgotten. */
export function shownAddress(text: string): string {
  return text.includes('://') ? shownAddresses(text) : text.replace(BEHIND_BARE_HOST, '***');
}

/** What must not be shown of addresses, wherever they stand: users and passwords, and in the operator's all behind the host. */
export function addressMasks(text: string, trust: Trust): readonly Mask[] {
  const patterns = trust === 'operator' ? [USER_INFO, BEHIND_HOST] : [USER_INFO];
  return patterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(({ index, 0: hidden }): Mask => [index, index + hidden.length]),
  );
}

/** What a reference to a secret consists of, which is none itself. */
const REFERENCE_KEYS: ReadonlySet<string> = new Set(['env', 'file']);

/** Values whose keys say that they may be a secret, written where a reference belongs, with all that is in them. */
export function secretMasks(contents: unknown, trust: Trust): readonly Mask[] {
  if (isSeq(contents)) return contents.items.flatMap((item) => secretMasks(item, trust));
  if (!isMap(contents)) return [];
  return contents.items.flatMap(({ key, value }) => {
    const name = isScalar(key) ? textOfScalar(key) : '';
    if (isSecretKey(name, trust)) return everyScalar(value);
    return trust === 'operator' && isAddressName(name) ? bareAddressMasks(value) : secretMasks(value, trust);
  });
}

function isSecretKey(name: string, trust: Trust): boolean {
  return isSecretName(name) || (trust === 'operator' && (name === 'value' || name === 'urlFrom'));
}

/** An address without a scheme, which no pattern would find in the text. */
function bareAddressMasks(node: unknown): readonly Mask[] {
  if (!isScalar(node)) return secretMasks(node, 'operator');
  const [bare] = BEHIND_BARE_HOST.exec(textOfScalar(node)) ?? [];
  const { offset, length } = spanOf(node);
  return bare === undefined ? [] : [[offset + Math.max(0, length - bare.length - 1), offset + length]];
}

function everyScalar(node: unknown): readonly Mask[] {
  if (isSeq(node)) return node.items.flatMap(everyScalar);
  if (isMap(node))
    return node.items.flatMap(({ key, value }) =>
      isScalar(key) && REFERENCE_KEYS.has(textOfScalar(key)) ? [] : everyScalar(value),
    );
  if (!isScalar(node)) return [];
  const { offset, length } = spanOf(node);
  return [[offset, offset + length]];
}

/**
 * For a configuration file with syntax errors, whose nodes cannot be trusted: the rest of a line after a key that often
 * holds a secret, and every line without a key, which may belong to a secret of several lines.
 */
export function secretLineMasks(text: string): readonly Mask[] {
  const masks: Mask[] = [];
  for (const match of text.matchAll(SECRET_LINE)) {
    const end = match.index + match[0].length;
    masks.push([end - (match[1] as string).length, end]);
  }
  for (const match of text.matchAll(/^[^:\n]*$/gm)) {
    if (!match[0].startsWith('---')) masks.push([match.index, match.index + match[0].length]);
  }
  return masks;
}
