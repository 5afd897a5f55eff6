import { isLoopback } from '../addresses.ts';
import { forbiddenHost } from '../forbidden-hosts.ts';
import { durationProblems, repeats } from '../../kinds/problems.ts';
import type { SpecProblem } from '../../kinds/kind.ts';
import type { NotificationsSpec, ReceiverSpec } from './notifications-spec.ts';

/** What a schema cannot say: fields by type, names that are given twice, and rules that name nobody. */
export function notificationProblems({ receivers, rules }: NotificationsSpec): readonly SpecProblem[] {
  const at = 'spec.notifications';
  const names = receivers.map(({ name }) => name);
  return [
    ...receivers.flatMap((receiver, index) => receiverProblems(receiver, `${at}.receivers[${index}]`)),
    ...repeats(names).map(({ value, index }) => ({
      code: 'settings/duplicate-receiver',
      path: `${at}.receivers[${index}].name`,
      message: `there are two receivers called ${value}`,
    })),
    ...rules.flatMap((rule, index) =>
      rule.receivers.flatMap((name, place): SpecProblem[] =>
        names.includes(name)
          ? []
          : [
              {
                code: 'settings/unknown-receiver',
                path: `${at}.rules[${index}].receivers[${place}]`,
                message: `there is no receiver called ${name}`,
                expected: names.length === 0 ? 'spec.notifications.receivers has none' : `one of ${names.join(', ')}`,
              },
            ],
      ),
    ),
  ];
}

const FIELDS = ['url', 'urlFrom', 'secret', 'token', 'repository', 'link'] as const;
type Field = (typeof FIELDS)[number];

interface Fields {
  /** One of each group must be there. */
  readonly needs: readonly (readonly Field[])[];
  readonly takes: readonly Field[];
  /** Why a needed one is. */
  readonly reason: string;
}

const ofForge = {
  needs: [['token'], ['repository']],
  takes: ['url', 'token', 'repository', 'link'],
  reason: 'to set the status of a commit',
} as const;

/** The fields that a type of receiver needs and takes. */
const FIELDS_OF: Readonly<Record<ReceiverSpec['type'], Fields>> = {
  webhook: { needs: [['url', 'urlFrom']], takes: ['url', 'urlFrom', 'secret', 'token'], reason: 'where to post' },
  slack: { needs: [['urlFrom']], takes: ['urlFrom'], reason: 'the address of a Slack webhook is its credential' },
  github: ofForge,
  gitlab: ofForge,
  gitea: { ...ofForge, needs: [['url'], ...ofForge.needs] },
};

function receiverProblems(receiver: ReceiverSpec, path: string): readonly SpecProblem[] {
  const { needs, takes, reason } = FIELDS_OF[receiver.type];
  const given = FIELDS.filter((field) => receiver[field] !== undefined);
  const missing = needs
    .filter((group) => !group.some((field) => given.includes(field)))
    .map((group): SpecProblem => {
      const expected = `${group.join(' or ')}: ${reason}`;
      return { code: 'settings/receiver', path, message: `a ${receiver.type} receiver lacks a field`, expected };
    });
  const foreign = given
    .filter((field) => !takes.includes(field))
    .map((field): SpecProblem => {
      const expected = `of a ${receiver.type} receiver: ${takes.join(', ')}`;
      return {
        code: 'settings/receiver',
        path: `${path}.${field}`,
        message: `${field} means nothing to a ${receiver.type} receiver`,
        expected,
      };
    });
  return [
    ...missing,
    ...foreign,
    ...bothAddresses(receiver, path),
    ...plainHttp(receiver.url, `${path}.url`),
    ...forbiddenHost(receiver.url, `${path}.url`),
    ...repositoryProblems(receiver, `${path}.repository`),
    ...durationProblems(receiver.timeout, `${path}.timeout`),
    ...durationProblems(receiver.repeatAfter, `${path}.repeatAfter`),
  ];
}

function bothAddresses({ url, urlFrom }: ReceiverSpec, path: string): readonly SpecProblem[] {
  if (url === undefined || urlFrom === undefined) return [];
  return [{ code: 'settings/receiver', path: `${path}.urlFrom`, message: 'there are two addresses: url and urlFrom' }];
}

/** `http://` to another machine, where a signature or token would be readable on the way. */
export function plainHttp(text: string | undefined, path: string): readonly SpecProblem[] {
  const url = text === undefined ? null : URL.parse(text);
  if (url?.protocol !== 'http:' || isLoopback(url.href)) return [];
  return [
    {
      code: 'settings/plain-http',
      path,
      message: `${url.origin} is plain http: what is sent could be read on the way`,
      expected: 'an https address; http only to this machine itself',
    },
  ];
}

function repositoryProblems({ type, repository }: ReceiverSpec, path: string): readonly SpecProblem[] {
  if (repository === undefined) return [];
  // A segment of dots would lead to another endpoint of the forge.
  const parts = repository.split('/');
  const isPath = !parts.some((part) => /^\.+$/.test(part));
  const isGood = isPath && (type === 'gitlab' ? parts.length > 1 || /^\d+$/.test(repository) : parts.length === 2);
  if (isGood) return [];
  const expected = type === 'gitlab' ? 'group/project, or the number of the project' : 'owner/name';
  return [{ code: 'settings/receiver', path, message: `repository is "${repository}"`, expected }];
}
