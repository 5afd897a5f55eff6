import type { CertificateRecord } from './wire.ts';
import type { HoldProposal } from '../reconciled.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';

/** The observation of the team's certificates. */
export type CertificateView =
  | { readonly type: 'not-asked' }
  | { readonly type: 'listed'; readonly certificates: readonly CertificateRecord[] }
  /** The server does not list certificates. */
  | { readonly type: 'unlisted' }
  /** The platform refused to list them, with this message. */
  | { readonly type: 'refused'; readonly message: string };

export type CertificateChoice =
  | {
      readonly type: 'chosen';
      /** undefined: the manifest does not manage it. */
      readonly id: number | undefined;
      readonly notes: readonly { readonly code: string; readonly message: string }[];
    }
  | { readonly type: 'held'; readonly hold: HoldProposal };

type Wanted = Pick<HttpGatewayRuleSpec, 'domain' | 'path' | 'certificate' | 'certificateId'>;

/** Returns whether the manifest names a certificate: the rule is https then. */
export function wantsCertificate({
  certificate,
  certificateId,
}: Pick<Wanted, 'certificate' | 'certificateId'>): boolean {
  return certificate !== undefined || certificateId !== undefined;
}

/** Returns the number of the manifest's certificate, which it names by alias or by number. */
export function chooseCertificate(spec: Wanted, resource: string, view: CertificateView): CertificateChoice {
  const { certificate: alias, certificateId: id } = spec;
  if (alias !== undefined) return byAlias(spec, alias, resource, view);
  if (id === undefined) return { type: 'chosen', id: undefined, notes: [] };
  if (view.type !== 'listed') {
    const notes =
      view.type === 'refused'
        ? [
            note(
              'rule/certificate-unchecked',
              `certificate ${id} of ${rule(spec)} could not be checked: ${view.message}`,
            ),
          ]
        : [];
    return { type: 'chosen', id, notes };
  }
  const found = view.certificates.find((one) => one.id === id);
  if (found !== undefined) return { type: 'chosen', id, notes: doubtsAbout(spec, found) };
  return held(
    'rule/certificate-unknown',
    `${rule(spec)} asks for certificate ${id}, which the team does not have; the platform would accept it and serve https without a certificate. The team has: ${offered(view.certificates)}`,
    `Correct spec.certificateId of ${resource}, or write the alias as spec.certificate.`,
  );
}

/** Returns the hold of a rule for which the platform stored certificate 0, because it has no such certificate. */
export function notTaken(spec: Wanted, resource: string, id: number): HoldProposal {
  return {
    code: 'rule/certificate-unknown',
    message: `${rule(spec)} was created with certificate ${id}, and the platform stored none: it has no certificate of that number`,
    remedy: `Correct spec.certificateId of ${resource}.`,
  };
}

function byAlias(spec: Wanted, alias: string, resource: string, view: CertificateView): CertificateChoice {
  const quoted = JSON.stringify(alias);
  switch (view.type) {
    case 'listed': {
      const named = view.certificates.filter((one) => one.alias === alias);
      const [only, second] = named;
      if (only !== undefined && second === undefined)
        return { type: 'chosen', id: only.id, notes: doubtsAbout(spec, only) };
      if (only === undefined)
        return held(
          'rule/certificate-unknown',
          `${rule(spec)} asks for the certificate ${quoted}, and the team has none with that alias. It has: ${offered(view.certificates)}`,
          `Correct spec.certificate of ${resource}, or add the certificate to the team in the console.`,
        );
      return held(
        'rule/certificate-ambiguous',
        `${rule(spec)} asks for the certificate ${quoted}, and ${named.length} certificates of the team have that alias: ${offered(named)}`,
        `Write the number of one of them as spec.certificateId of ${resource}, in place of spec.certificate.`,
      );
    }
    case 'refused':
      return held(
        'rule/certificate-unlisted',
        `${rule(spec)} asks for the certificate ${quoted}, and the platform does not list the certificates of the team: ${view.message}`,
        `Give the token's user the permission, or write the number of the certificate as spec.certificateId of ${resource}.`,
      );
    default:
      return held(
        'rule/certificate-unlisted',
        `${rule(spec)} asks for the certificate ${quoted}, and this server cannot list certificates`,
        `Write the number of the certificate as spec.certificateId of ${resource}, in place of spec.certificate.`,
      );
  }
}

/** Returns notes on why browsers would refuse the certificate. It is sent anyway, because the platform accepts it. */
function doubtsAbout(spec: Wanted, { id, alias, issuedTo, hasExpired, expiresAt }: CertificateRecord) {
  const name = `certificate ${JSON.stringify(alias)} (${id}) of ${rule(spec)}`;
  const covers = issuedTo.length === 0 || issuedTo.some((pattern) => coversDomain(pattern, spec.domain));
  return [
    ...(hasExpired === true
      ? [note('rule/certificate-expired', `${name} has expired${expiresAt === null ? '' : ` (${expiresAt})`}`)]
      : []),
    ...(covers
      ? []
      : [note('rule/certificate-domain', `${name} is for ${issuedTo.join(', ')}, not for ${spec.domain}`)]),
  ];
}

/** Returns whether a certificate's name covers a domain; `*.example.com` covers one label, as in browsers. */
function coversDomain(pattern: string, domain: string): boolean {
  const [wanted, name] = [pattern.toLowerCase(), domain.toLowerCase()];
  return wanted === name || (wanted.startsWith('*.') && name.slice(name.indexOf('.')) === wanted.slice(1));
}

const OFFERED_MAX = 10;

function offered(certificates: readonly CertificateRecord[]): string {
  const shown = certificates
    .slice(0, OFFERED_MAX)
    .map(
      ({ id, alias, issuedTo }) =>
        `${JSON.stringify(alias)} (${id}${issuedTo.length === 0 ? '' : `, for ${issuedTo.join(', ')}`})`,
    );
  const more = certificates.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ') || 'none';
}

function rule({ domain, path }: Wanted): string {
  return `rule ${domain}${path}`;
}

function note(code: string, message: string) {
  return { code, message };
}

function held(code: string, message: string, remedy: string): CertificateChoice {
  return { type: 'held', hold: { code, message, remedy } };
}
