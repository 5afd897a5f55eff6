import { applicationDeclaration } from '../../../kinds/application/declaration.ts';
import type { SchemaNode } from '../../../kinds/fields.ts';
import { platformDeclaration } from '../../../configuration/platform/declaration.ts';
import { nameOf } from '../../../kinds/schema.ts';
import type { JsonObject } from '../../../model/json.ts';
import { invalidInput, PortolanError } from '../../../model/errors.ts';
import { checkPlatformUrl } from '../../../platform/url.ts';

/** The references to a token that `init` writes. */
type TokenReference = { readonly env: string } | { readonly file: string };

/** The answers that a project is initialized with. */
export interface Answers {
  readonly url: string;
  readonly allowPlainHttp: boolean;
  readonly header: string;
  readonly token: TokenReference;
  readonly team: string;
  readonly region: string;
  readonly appId: number;
  /** `metadata.name` of the Application. */
  readonly name: string;
}

/** Schemas of the answers that are texts: each becomes a field of a kind. */
const FIELDS = {
  header: fieldOf(platformDeclaration.specSchema, 'auth', 'header'),
  team: fieldOf(applicationDeclaration.specSchema, 'team'),
  region: fieldOf(applicationDeclaration.specSchema, 'region'),
  env: fieldOf(platformDeclaration.specSchema, 'auth', 'value', 'env'),
  file: fieldOf(platformDeclaration.specSchema, 'auth', 'value', 'file'),
  // Every document name follows the same rule, that of a reference to a document.
  name: nameOf(applicationDeclaration.kind) as SchemaNode,
};

function fieldOf(specSchema: JsonObject, ...steps: readonly string[]): SchemaNode {
  let schema: SchemaNode | undefined = specSchema;
  for (const step of steps) schema = schema?.properties?.[step];
  return schema ?? {};
}

export type TextAnswer = keyof typeof FIELDS;

/** @returns the fault of an answer without the answer itself, which may be a pasted token; undefined: it is valid. */
export function faultOf(answer: TextAnswer, text: string): string | undefined {
  const schema = FIELDS[answer];
  const { pattern = '', maxLength = Number.POSITIVE_INFINITY, minLength = 1 } = schema;
  const isValid = text.length >= minLength && text.length <= maxLength && new RegExp(pattern).test(text);
  if (!isValid) return `expected ${schema['x-expected'] ?? 'a text'}`;
  return answer === 'env' && looksLikeSecret(text)
    ? 'this looks like a token itself; expected the NAME of a variable'
    : undefined;
}

/**
 * Returns whether a text looks like a token: it is long and has small letters and digits, unlike the name of a variable.
 */
function looksLikeSecret(text: string): boolean {
  return text.length >= 16 && /[a-z]/.test(text) && /[0-9]/.test(text);
}

/** @returns the normalized address, or its fault. */
export function readUrl(text: string, allowPlainHttp: boolean): { readonly url: string } | { readonly fault: string } {
  try {
    return { url: checkPlatformUrl(text, allowPlainHttp).url };
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    const isPlain = error.message.includes('plain http');
    return { fault: isPlain ? `${error.message}; use https://, or pass --allow-plain-http` : error.message };
  }
}

/** Derives a valid document name from a name that the platform shows. */
export function documentName(text: string, appId: number): string {
  const plain = text
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 63)
    .replace(/[-.]+$/, '');
  return plain === '' ? `app-${appId}` : plain;
}

/** The flags of `init`. */
export interface GivenAnswers {
  readonly url?: string | undefined;
  readonly authEnv?: string | undefined;
  readonly authFile?: string | undefined;
  readonly authHeader: string;
  readonly team?: string | undefined;
  readonly region?: string | undefined;
  readonly appId?: number | undefined;
  readonly name?: string | undefined;
  readonly allowPlainHttp?: true | undefined;
  readonly offline?: true | undefined;
}

/** The answers that a client of the platform needs. */
export type Reach = Pick<Answers, 'url' | 'allowPlainHttp' | 'header' | 'token'>;

export const TOKEN_VARIABLE = 'PORTOLAN_TOKEN';

/** Checks each flag alone. @throws PortolanError `invalid` for the first invalid one. */
export function checkFlags(options: GivenAnswers): void {
  const { authEnv, authFile, authHeader, team, region, name, url, allowPlainHttp = false } = options;
  const texts: readonly (readonly [string, TextAnswer, string | undefined])[] = [
    ['--auth-header', 'header', authHeader],
    ['--auth-env', 'env', authEnv],
    ['--auth-file', 'file', authFile],
    ['--team', 'team', team],
    ['--region', 'region', region],
    ['--name', 'name', name],
  ];
  for (const [flag, answer, text] of texts) {
    const fault = text === undefined ? undefined : faultOf(answer, text);
    if (fault !== undefined) throw badFlag(flag, fault);
  }
  if (url !== undefined) urlOf(url, allowPlainHttp);
  if (authEnv !== undefined && authFile !== undefined) {
    throw badFlag('--auth-file', 'a token has one place; pass either --auth-env or --auth-file');
  }
}

/** Returns the normalized address. @throws PortolanError `invalid` for an invalid one. */
export function urlOf(url: string, allowPlainHttp: boolean): string {
  const read = readUrl(url, allowPlainHttp);
  if ('fault' in read) throw badFlag('--url', read.fault);
  return read.url;
}

/** Returns the reference to the token that the flags give; undefined where they give none. */
export function tokenOf({ authEnv, authFile }: GivenAnswers): TokenReference | undefined {
  if (authFile !== undefined) return { file: authFile };
  return authEnv === undefined ? undefined : { env: authEnv };
}

/** Returns the error for an invalid flag. It does not contain the value, which may be a token. */
export function badFlag(flag: string, fault: string): PortolanError {
  return invalidInput('cli/bad-answer', `${flag} cannot be used: ${fault}. Nothing was written.`, `Correct ${flag}.`);
}
