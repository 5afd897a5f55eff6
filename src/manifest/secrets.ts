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

/** An address without the user and password that may stand in it. */
export function withoutUserInfo(text: string): string {
  return text.replace(USER_INFO, '***');
}

/** Users and passwords in addresses, wherever they stand. */
export function addressMasks(text: string): readonly Mask[] {
  return [...text.matchAll(USER_INFO)].map(({ index, 0: userInfo }) => [index, index + userInfo.length]);
}

/** What a reference to a secret consists of, which is none itself. */
const REFERENCE_KEYS: ReadonlySet<string> = new Set(['env', 'file']);

/** Values whose keys say that they may be a secret, written where a reference belongs, with all that is in them. */
export function secretMasks(contents: unknown, trust: Trust): readonly Mask[] {
  if (isSeq(contents)) return contents.items.flatMap((item) => secretMasks(item, trust));
  if (!isMap(contents)) return [];
  return contents.items.flatMap(({ key, value }) => {
    const isSecret = isScalar(key) && isSecretKey(textOfScalar(key), trust);
    return isSecret ? everyScalar(value) : secretMasks(value, trust);
  });
}

function isSecretKey(name: string, trust: Trust): boolean {
  return isSecretName(name) || (trust === 'operator' && (name === 'value' || name === 'urlFrom'));
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
