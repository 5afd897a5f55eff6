import { isMap, isScalar, isSeq } from 'yaml';
import type { Mask } from './fault.ts';
import { spanOf, textOfScalar } from './values.ts';

/** The origin of documents: `manifest` is a source, `operator` is the configuration file. */
export type Trust = 'manifest' | 'operator';

const NAMES = 'access_?key|ssh_?key|token|password|passwd|secret|api_?key|authorization|private_?key';
const SECRET_KEY = new RegExp(`^(?:${NAMES})$`, 'i');
const SECRET_LINE = new RegExp(`(?:^|[\\s{,"'])(?:${NAMES}|value|urlFrom)["']?[ \\t]*:[ \\t]*([^\\s{].*)$`, 'gim');

/** Returns whether a field has a name that people use for secrets. */
export function isSecretName(name: string): boolean {
  return SECRET_KEY.test(name);
}

const USER_INFO = /(?<=:\/\/)[^\s/@"']+(?=@)/g;
/** In double quotes, a slash may have a backslash before it. */
const BEHIND_HOST = /(?<=:\\?\/\\?\/[^\s/?#"'\\]*\\?[/?#])[^\s"',]+(?:,[^\s"',]+)*/g;
const BEHIND_BARE_HOST = /(?<=^[^\s/?#:]+(?::\d+)?[/?#]).+$/s;

/** Returns whether a field contains only an address. */
export function isAddressName(name: string): boolean {
  return name === 'url' || name === 'link';
}

/** Returns a text in which addresses show only scheme and host. The rest may be a credential, like the path of a Slack webhook. */
export function shownAddresses(text: string): string {
  return text.replace(USER_INFO, '***').replace(BEHIND_HOST, '***');
}

/** Returns the same as `shownAddresses` for a text that is an address, even without its scheme. */
export function shownAddress(text: string): string {
  return text.includes('://') ? shownAddresses(text) : text.replace(BEHIND_BARE_HOST, '***');
}

/** Returns the parts of addresses that must not be shown: user and password, and in the operator's file everything after the host. */
export function addressMasks(text: string, trust: Trust): readonly Mask[] {
  const patterns = trust === 'operator' ? [USER_INFO, BEHIND_HOST] : [USER_INFO];
  return patterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(({ index, 0: hidden }): Mask => [index, index + hidden.length]),
  );
}

/** The fields of a reference to a secret, which are not secrets themselves. */
const REFERENCE_KEYS: ReadonlySet<string> = new Set(['env', 'file']);

/** Returns the values that may be secrets by their keys, with everything in them. */
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

/** Returns the mask of an address without a scheme, which no pattern finds in the text. */
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
 * Returns masks for a configuration file with syntax errors, whose nodes are not reliable: the rest of a line after a key that
 * often has a secret, and every line without a key, which may be part of a secret of several lines.
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
