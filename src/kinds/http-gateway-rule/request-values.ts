import { CONTROL, checked, checkedInteger, checkedText } from '../../platform/request-values.ts';
import type { WireJson, WireObject } from '../../platform/transport.ts';
import type { HttpGatewayRuleSpec, RuleConfiguration } from './spec.ts';

export type RuleExtension = NonNullable<HttpGatewayRuleSpec['extensions']>[number];

const DOMAIN_LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const EXTENSION = /^[A-Za-z0-9_.-]{1,32}$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;

/** A host name of ASCII labels, with a leading `*.` allowed: other scripts must come as punycode. */
export function domainText(value: string): string {
  const host = value.startsWith('*.') ? value.slice(2) : value;
  const isHost = value.length <= 128 && host.split('.').every((label) => DOMAIN_LABEL.test(label));
  return checked(value, isHost, 'domain', 'a host name of 128 characters at most (other scripts as punycode, xn--…)');
}

export function pathText(value: string): string {
  const isPath = value.startsWith('/') && value.length <= 1024 && !CONTROL.test(value) && !/\s/.test(value);
  return checked(value, isPath, 'domain path', 'a path that starts with / and holds no white space');
}

/** Returns the check of a text that a body leaves out where it is empty. */
export function textOrNone(what: string, lengthMax: number): (value: string) => string | undefined {
  return (value) => (value === '' ? undefined : checkedText(value, what, lengthMax));
}

/** Returns the extensions as a body has them. The documents say a list of strings; the real server takes objects only. */
export function extensionList(extensions: readonly RuleExtension[], takesObjects: boolean): WireJson {
  const text = (value: string, what: string): string =>
    checked(value, EXTENSION.test(value), what, '1 to 32 letters, digits, _, . or -');
  const entries = extensions.map(({ key, value }) => ({
    key: text(key, 'extension key'),
    value: text(value, 'extension value'),
  }));
  return takesObjects ? entries : entries.map(({ key, value }) => `${key}:${value}`);
}

/** Returns a configuration as a body has it, each field under its name in snake case. */
export function configurationBody(configuration: RuleConfiguration): WireObject {
  const entries = Object.entries(configuration).map(([name, value]): [string, WireJson] => {
    const as = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (typeof value === 'number') return [as, checkedInteger(value, as)];
    if (typeof value === 'string') return [as, checked(value, value === 'on' || value === 'off', as, 'on or off')];
    return [as, value.map(headerOf)];
  });
  return Object.fromEntries(entries);
}

function headerOf({ key, value }: NonNullable<RuleConfiguration['setHeaders']>[number]): WireObject {
  return {
    key: checked(key, HEADER_NAME.test(key), 'header name', 'an HTTP header name'),
    value: checkedText(value, `value of header ${key}`, 1024),
  };
}
