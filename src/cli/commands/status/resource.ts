import { invalidInput } from '../../../model/errors.ts';
import type { DifferenceActor, FieldValues, ResourceDetails } from '../../../model/resource-details.ts';
import type { ResourceStatus } from '../../../model/status.ts';
import { safeLine } from '../../../model/text.ts';
import { CAUSE_WORDS, valueText } from '../../../plan/words.ts';
import { resourceState } from '../../../views/answered.ts';
import { STATE_TEXTS } from '../../../views/words.ts';
import { openServer, type ServerClient } from '../../server/client.ts';
import type { ServerFlags } from '../../server/options.ts';
import type { Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { renderTable } from '../../terminal/table.ts';
import { type Output, writeJson } from '../../terminal/terminal.ts';
import { textOfLines } from '../../terminal/text.ts';
import { instant } from '../ledger/words.ts';

/** Shows one resource as a running controller knows it: its fields with their three values, and who caused each difference. */
export async function statusOfResource(
  name: string,
  options: ServerFlags & { readonly output: string },
  surroundings: Surroundings,
): Promise<ExitCode> {
  const server = openServer(options, surroundings);
  const application = await applicationOf(server, name);
  const path = `applications/${encodeURIComponent(application)}/resources/${name.split('/').map(encodeURIComponent).join('/')}`;
  const details = (await server.get(path, 'fields')) as ResourceDetails;
  const { terminal } = surroundings;
  if (options.output === 'json') writeJson(details, terminal);
  else terminal.out.write(detailText(details, terminal.out));
  return (details.status?.holds.length ?? 0) > 0 ? EXIT.held : EXIT.ok;
}

/** Returns the name of the application whose manifests have a resource. */
export async function applicationOf(server: ServerClient, resource: string): Promise<string> {
  for await (const found of server.list('resources') as AsyncIterable<ResourceStatus>)
    if (found.id === resource) return found.application.slice('Application/'.length);
  throw invalidInput(
    'controller/unknown-resource',
    `No manifest of the source has ${resource}.`,
    'Correct the name, which has the form Kind/name. portolan tree --server shows all resources.',
  );
}

function detailText(details: ResourceDetails, out: Output): string {
  const { id, status, source, observedMs, fields, doubts } = details;
  const state = status === null ? 'withdrawn' : resourceState(status);
  const head = [
    `${id}: ${STATE_TEXTS[state]}${observedMs === null ? '' : `, observed ${instant(observedMs)}`}`,
    ...(source === null
      ? []
      : [
          `manifest ${source.file}:${source.line}:${source.column}${source.revision === null ? '' : ` in ${source.revision}`}`,
        ]),
    '',
  ];
  const rows = fields.map((field) => [
    field.path,
    field.state,
    shownValue(field.desired),
    field.state === 'hidden' ? 'not shown' : field.state === 'unknown' ? 'not compared' : shownValue(field.live),
    shownValue(field.lastApplied),
    causeText(field),
  ]);
  const table = renderTable(['field', 'state', 'desired', 'live', 'last applied', 'cause'], rows, out);
  const rest = [
    ...(status?.holds ?? []).flatMap(({ message, remedy }) => ['', `held: ${message}`, `  → ${remedy}`]),
    ...doubts.flatMap(({ id: intent, summary, evidence }) => [
      '',
      `in doubt: ${summary} (intent ${intent})${evidence === null ? '' : `: ${evidence}`}`,
    ]),
  ];
  return textOfLines(head.map(safeLine)) + table + (rest.length === 0 ? '' : textOfLines(rest.map(safeLine)));
}

function shownValue(value: FieldValues['desired']): string {
  return value === undefined ? '' : valueText(value);
}

function causeText({ cause, actors }: FieldValues): string {
  if (cause === null) return '';
  const by = actors.map(actorText).join(' and ');
  return by === '' ? CAUSE_WORDS[cause] : `${CAUSE_WORDS[cause]} by ${by}`;
}

function actorText(actor: DifferenceActor): string {
  switch (actor.type) {
    case 'commit':
      return `${actor.revision}${actor.author === null ? '' : ` of ${actor.author}`}`;
    case 'platform':
      return `a user or a program on the platform${actor.sinceMs === null ? '' : `, first seen ${instant(actor.sinceMs)}`}`;
    case 'run':
      return `an earlier run${actor.actor === null ? '' : ` of ${actor.actor}`}`;
  }
}
