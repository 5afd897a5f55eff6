import type { DurationText } from '../../model/duration.ts';
import type { Loaded } from '../loaded.ts';
import type { SecretReference } from '../platform/spec.ts';
import {
  durationOr,
  ONE_LINE_EXPECTED,
  ONE_LINE_PATTERN,
  type PropertiesOf,
  secretReferenceSchema,
  SHORT_TIME_PATTERN,
} from '../../kinds/schema.ts';

/** `spec.source` of the operator's `kind: Settings`, defaults filled in. */
export interface SourceSpec {
  /** A repository that the daemon fetches by itself: `https://`, `ssh://`, `file://`, or `http://` of this machine. */
  readonly url?: string;
  /** Branch, tag or commit. Absent: `HEAD`; files that are in no repository are then read as they are. */
  readonly ref?: string;
  /** With `url`: folders and files within the repository. Without: what commands read where no `-f` names anything. */
  readonly paths: readonly string[];
  /** How often the source is looked at whatever is heard of it; ± 10 %. Default 60s. */
  readonly interval: DurationText;
  /** How long after a change is heard of the source is read: `100ms`, `2s`. Default 100ms. */
  readonly debounce: DurationText;
  /** For `url`. */
  readonly credentials?: SourceCredentials;
  /** For `url`: PEM file of certificates to trust in place of the system's. */
  readonly tls?: { readonly caFile?: string };
  readonly signatures: SignaturePolicy;
  readonly limits: SourceLimitsSpec;
}

/** What a source may cost at most. A commit beyond a limit is not applied; the one before stays in force. */
export interface SourceLimitsSpec extends FolderLimits {
  /** MiB of all manifests together. Default 64. */
  readonly sizeMib: number;
  /** Documents in all. Default 40000. */
  readonly documents: number;
  /** MiB of heap for the thread that reads and parses. Default 192. */
  readonly heapMib: number;
  /** For reading, and again for parsing. Default 2m. */
  readonly timeout: DurationText;
}

/** What the folders of a commit may be at most, before anything is made of them. */
export interface FolderLimits {
  /** Folders in all. Default 20000. */
  readonly folders: number;
  /** Files and folders in all, manifests or not. Default 200000. */
  readonly entries: number;
  /** Folders within each other. Default 100. */
  readonly depth: number;
}

/** Either a password or token for https, or a key for ssh; never of the repository's own. */
export interface SourceCredentials {
  /** https: default `git`, which forges take with a token. */
  readonly username?: string;
  /** https: password or token. */
  readonly password?: SecretReference;
  /** ssh: the private key, without a passphrase. */
  readonly sshKey?: SecretReference;
  /** ssh: absolute path of the known_hosts file. A host that is not in it is refused. */
  readonly knownHosts?: string;
}

/** Who must have signed a commit that manifests are read from. */
export interface SignaturePolicy {
  /** `nobody` (default): signatures are not looked at. */
  readonly by: 'nobody' | 'ssh' | 'gpg';
  /** Absolute path. ssh: a file of allowed signers, as ssh-keygen takes it. gpg: a folder with the keyring of those trusted. */
  readonly keys?: string;
}

export type SourceSettings = Loaded<SourceSpec>;
export type SourceLimits = Loaded<SourceLimitsSpec>;

/** No user and no query: a password in either would be shown wherever the address is. `git@` of ssh is no secret. */
const SOURCE_URL_PATTERN =
  '^(https?://[A-Za-z0-9.:\\[\\]-]+(/[A-Za-z0-9._~%+/-]*)?|ssh://([A-Za-z0-9._-]+@)?[A-Za-z0-9.:\\[\\]-]+/[A-Za-z0-9._~%+/-]*|file:///[A-Za-z0-9._~%+/-]*)$';

const signaturesSchema = {
  type: 'object',
  additionalProperties: false,
  default: {},
  description: 'Who must have signed the commit that --revision or the daemon reads; plain files have no signature.',
  properties: {
    by: {
      type: 'string',
      enum: ['nobody', 'ssh', 'gpg'],
      default: 'nobody',
      description:
        'nobody: signatures are not looked at. ssh, gpg: the commit itself, not those before it, must bear a good one.',
    },
    keys: {
      type: 'string',
      minLength: 2,
      maxLength: 4096,
      pattern: ONE_LINE_PATTERN,
      description:
        'Absolute path, outside the checkout. ssh: file of allowed signers. gpg: folder with a keyring; every key in it is trusted.',
      'x-expected': 'an absolute path',
    },
  },
} as const;

const limitsSchema = {
  type: 'object',
  additionalProperties: false,
  default: {},
  description:
    'What a source may cost. A few small trees can unfold to more folders than any machine holds, and a small file can take hundreds of times its size to parse. The daemon reads and parses in a thread with these limits; a commit over a limit is not applied, and the one before stays in force. After heapMib or timeout was exceeded, the same commit is read again only on `portolan sync`, with other limits or with another version of Portolan.',
  properties: {
    folders: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      default: 20_000,
      description:
        'Folders in all. Each takes about 2 KiB of memory: 20000 are 40 MiB, three times those of the Linux kernel.',
    },
    entries: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000_000,
      default: 200_000,
      description:
        'Files and folders in all, manifests or not. Each takes about 0.4 KiB of memory: 200000 are 80 MiB, twice those of the Linux kernel.',
    },
    depth: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000,
      default: 100,
      description: 'Folders nested within each other. Paths of most systems end below it.',
    },
    sizeMib: {
      type: 'integer',
      minimum: 1,
      maximum: 256,
      default: 64,
      description:
        'MiB of all manifests together; kept in memory beside the heap. 10000 documents of usual size are 4 MiB.',
    },
    documents: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000_000,
      default: 40_000,
      description:
        'Documents in all. The daemon keeps about 4 KiB of each application and of each of its resources in memory: 40000 are 160 MiB.',
    },
    heapMib: {
      type: 'integer',
      minimum: 32,
      maximum: 65_536,
      default: 192,
      description:
        'MiB of heap for the thread of the daemon that reads and parses the source, and as much for the one that parses manifests sent to POST /api/v1/plan. 10000 documents take about 60 MiB. Both and 160 MiB for the rest of the daemon should fit into the memory of its container.',
    },
    timeout: durationOr(
      '2m',
      'Time to read a commit in the thread of the daemon, and as much to parse it. 10000 documents take a few seconds of processor time.',
    ),
  },
} as const;

const credentialsSchema = {
  type: 'object',
  additionalProperties: false,
  description: 'For url: username and password for https, sshKey and knownHosts for ssh. Nothing else is tried.',
  properties: {
    username: {
      type: 'string',
      pattern: '^[^:\\u0000-\\u001f\\u007f]+$',
      maxLength: 256,
      default: 'git',
      description: 'https: who the password belongs to. With a token, forges take any name.',
      'x-expected': 'a name without a colon',
    },
    password: { ...secretReferenceSchema, description: 'https: password or access token, by reference.' },
    sshKey: { ...secretReferenceSchema, description: 'ssh: private key without a passphrase, by reference.' },
    knownHosts: {
      type: 'string',
      pattern: '^/[A-Za-z0-9._/@+,:=-]*$',
      maxLength: 4096,
      description: 'ssh: known_hosts file; a host that is not in it is refused. ssh-keyscan writes one.',
      'x-expected': 'an absolute path of letters, digits and . _ / @ + , : = -',
    },
  },
} as const;

/** JSON Schema of `SourceSpec`. */
export const sourceSchema = {
  type: 'object',
  additionalProperties: false,
  default: {},
  description: 'Where the daemon reads manifests from, and what a source must be like to be read.',
  properties: {
    url: {
      type: 'string',
      pattern: SOURCE_URL_PATTERN,
      maxLength: 2048,
      description: 'Repository that the daemon fetches by itself. Absent: a checkout or folder of this machine.',
      'x-expected':
        'https://host/path, ssh://git@host/path or file:///path (http:// only to this machine), without password or query',
    },
    ref: {
      type: 'string',
      minLength: 1,
      maxLength: 250,
      pattern: '^[^-\\s][^\\s]*$',
      description: 'Branch, tag or commit. Default: HEAD, the branch that is checked out.',
      'x-expected': 'a branch, tag or commit',
    },
    paths: {
      type: 'array',
      maxItems: 1000,
      default: [],
      description:
        'With url: folders and files within the repository; none: all of it. Without url: what every command reads without -f, from the folder in which it runs.',
      items: {
        type: 'string',
        minLength: 1,
        maxLength: 4096,
        pattern: ONE_LINE_PATTERN,
        description: 'A folder or file.',
        'x-expected': ONE_LINE_EXPECTED,
      },
    },
    interval: durationOr('60s', 'How often the source is looked at, whatever is heard of it; ± 10 %.'),
    debounce: {
      type: 'string',
      pattern: SHORT_TIME_PATTERN,
      maxLength: 8,
      default: '100ms',
      description: 'How long after the first sign of a change the source is read.',
      'x-expected': 'a short time such as 100ms or 2s',
    },
    credentials: credentialsSchema,
    tls: {
      type: 'object',
      additionalProperties: false,
      description: 'How the server of url proves itself.',
      properties: {
        caFile: {
          type: 'string',
          minLength: 1,
          maxLength: 4096,
          pattern: ONE_LINE_PATTERN,
          description: 'PEM file of certificates to trust in place of those of the system.',
          'x-expected': ONE_LINE_EXPECTED,
        },
      },
    },
    signatures: signaturesSchema,
    limits: limitsSchema,
  } satisfies PropertiesOf<SourceSpec>,
} as const;
