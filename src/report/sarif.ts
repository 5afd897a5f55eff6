import { hash } from 'node:crypto';
import type { Json } from '../model/json.ts';
import type { Position } from '../model/problem.ts';
import type { Level } from './entries.ts';
import { worstFirst } from './entries.ts';
import { fileOf, type Finding } from './findings.ts';

/** The maximum number of results of one run in GitHub code scanning, which refuses a file with more. */
const RESULTS_MAX = 5_000;

const LEVELS: Readonly<Record<Level, 'error' | 'warning' | 'note'>> = {
  error: 'error',
  warning: 'warning',
  notice: 'note',
};

/** The descriptions of codes that no kind defines. Other codes are described by their results. */
const RULES: Readonly<Record<string, string>> = {
  'plan/create': 'An object will be created on the platform.',
  'plan/update': 'An object on the platform will be changed.',
  'plan/delete': 'An object on the platform will be removed or closed.',
  'plan/drift': 'The platform drifted from git and will be corrected.',
  'plan/deferred': 'It is pending until an install returns the id that it needs.',
  'guard/policy': 'A policy of the operator denies it.',
  'policy/denied': 'A policy of the operator denies the manifest.',
  'policy/ignored': 'A policy of the operator denies it, and a user ignored the policy.',
  'policy/warning': 'A policy of the operator warns about it.',
  'apply/done': 'The action was done.',
  'apply/failed': 'The platform refused the action, or it could not be sent.',
  'apply/in-doubt': 'The action was sent, and its outcome is unknown.',
  'apply/skipped': 'The action was not started.',
  'apply/left': 'The action was not tried.',
  'apply/waiting': 'The action was done, and its effect is pending.',
};

export interface SarifFacts {
  readonly version: string;
  /** The kind of the run, so that a plan does not close the alerts of a validation: `plan/default`. */
  readonly run: string;
}

/** Returns findings as a SARIF 2.1.0 log of one run, by severity, as many as code scanning accepts. */
export function renderSarif(findings: readonly Finding[], { version, run }: SarifFacts): string {
  const shown = worstFirst(findings).slice(0, RESULTS_MAX);
  const codes = [...new Set(shown.map(({ code }) => code))].sort();
  const left = findings.length - shown.length;
  const leftOut = {
    level: 'note',
    message: { text: `${left} more ${left === 1 ? 'result was' : 'results were'} omitted, the least severe ones.` },
  };
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'Portolan', version, rules: codes.map((code) => ruleOf(code, shown)) } },
        automationDetails: { id: `portolan/${run}/` },
        columnKind: 'unicodeCodePoints',
        ...(left === 0 ? {} : { invocations: [{ executionSuccessful: true, toolExecutionNotifications: [leftOut] }] }),
        results: shown.map((finding) => resultOf(finding, codes)),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function ruleOf(code: string, findings: readonly Finding[]): Json {
  const [worst] = worstFirst(findings.filter((finding) => finding.code === code));
  return {
    id: code,
    shortDescription: { text: RULES[code] ?? code.replace('/', ': ').replaceAll('-', ' ') },
    defaultConfiguration: { level: LEVELS[worst?.level ?? 'notice'] },
  };
}

function resultOf(finding: Finding, codes: readonly string[]): Json {
  const { code, level, title, lines, resource, key, position } = finding;
  const location = position === undefined ? undefined : physicalLocation(position);
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: LEVELS[level],
    message: { text: [title, ...lines].join('\n') },
    locations: [
      {
        ...(location === undefined ? {} : { physicalLocation: location }),
        ...(resource === undefined ? {} : { logicalLocations: [{ fullyQualifiedName: resource, kind: 'resource' }] }),
      },
    ].filter((one) => Object.keys(one).length > 0),
    partialFingerprints: { 'portolan/v1': hash('sha256', JSON.stringify([code, resource ?? '', key])) },
  };
}

/** Returns the position for code scanning, which expects paths relative to the checkout. */
function physicalLocation(position: Position): Json | undefined {
  const file = fileOf(position);
  if (file === undefined) return undefined;
  const path = file.toWellFormed().replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/');
  const isAbsolute = path.startsWith('/');
  return {
    artifactLocation: isAbsolute ? { uri: `file://${path}` } : { uri: path, uriBaseId: '%SRCROOT%' },
    region: { startLine: position.line, startColumn: position.column },
  };
}
