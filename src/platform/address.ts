import { invalidInput } from '../model/errors.ts';
import { checkedInteger } from './request-values.ts';
import type { AppAddress } from './writes.ts';

const API = '/openapi/v1';

/** Segments that encoding does not change. */
const PLAIN_SEGMENT = /^[\w-]{1,256}$/;

/**
 * Returns a percent-encoded segment of a path. `.` and `..` are refused: a URL parser takes them for steps up the path, even if
 * they are encoded.
 */
function segment(value: string, what: string): string {
  if (PLAIN_SEGMENT.test(value)) return value;
  // A lone surrogate cannot be encoded at all, so `encodeURIComponent` would throw a bare URIError.
  if (value === '' || value === '.' || value === '..' || value.length > 256 || !value.isWellFormed()) {
    throw invalidInput(
      'platform/invalid-request',
      `${what} ${JSON.stringify(value.slice(0, 80))} cannot be part of an address. Nothing was sent.`,
      `Correct the ${what} in the manifest.`,
    );
  }
  return encodeURIComponent(value);
}

/**
 * Returns the absolute path of an address of the API, each segment percent-encoded, without a query.
 * @param below the parent of the segments; undefined: the application.
 * @throws PortolanError `invalid` where a part that it needs is missing or cannot be part of an address.
 */
export function addressOf(
  { team = '', region = '', appId }: Partial<AppAddress>,
  below: 'platform' | 'team' | 'region' | undefined,
  segments: readonly string[],
): string {
  const ofTeam = () => ['teams', segment(team, 'team')];
  const ofRegion = () => [...ofTeam(), 'regions', segment(region, 'region')];
  const ofApplication = () => [...ofRegion(), 'apps', segment(appId?.toString() ?? '', 'application id')];
  const places = { platform: () => [], team: ofTeam, region: ofRegion };
  const place = below === undefined ? ofApplication() : places[below]();
  return [API, ...place, ...segments.map((one) => segment(one, 'part of an address'))].join('/');
}

/** Returns the path of a write below an application. @throws PortolanError `invalid` where it has no number. */
export function writeAddress(app: AppAddress, ...segments: readonly string[]): string {
  checkedInteger(app.appId, 'application id', 1);
  return addressOf(app, undefined, segments);
}
