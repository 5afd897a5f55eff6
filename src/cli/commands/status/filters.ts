import { type Command, InvalidArgumentError, Option, type OptionValues } from '@commander-js/extra-typings';
import { invalidInput } from '../../../model/errors.ts';
import { FLEET_STATES, type FleetState } from '../../../model/fleet-words.ts';
import type { Query } from '../../server/client.ts';
import { collect } from '../../session/options.ts';

/** Filters of the applications of a running controller, which evaluates them. */
interface FilterFlags {
  readonly server?: string | undefined;
  readonly search?: string | undefined;
  readonly state?: readonly FleetState[] | undefined;
  readonly team?: readonly string[] | undefined;
  readonly region?: readonly string[] | undefined;
  readonly onPlatform?: readonly string[] | undefined;
  readonly label?: readonly string[] | undefined;
}

const NAMES = ['search', 'state', 'team', 'region', 'onPlatform', 'label'] as const;

export function addFilterOptions<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  return command
    .option('--search <words>', 'with --server: only applications whose name, scope or labels contain each word')
    .addOption(
      new Option(
        '--state <state>',
        `with --server: only applications in this state: ${FLEET_STATES.join(', ')}; may be repeated`,
      ).argParser(stateArgument),
    )
    .option('--team <team>', 'with --server: only applications of this team; may be repeated', collect)
    .option('--region <region>', 'with --server: only applications in this region; may be repeated', collect)
    .option('--on-platform <name>', 'with --server: only applications on this platform; may be repeated', collect)
    .option(
      '--label <label>',
      'with --server: only applications with this label, as KEY or KEY=VALUE; may be repeated, and all must match',
      collect,
    );
}

function stateArgument(text: string, earlier: readonly FleetState[] | undefined): readonly FleetState[] {
  const state = FLEET_STATES.find((one) => one === text);
  if (state === undefined) throw new InvalidArgumentError(`Expected one of ${FLEET_STATES.join(', ')}.`);
  return [...(earlier ?? []), state];
}

/** Returns the filters as a query; undefined: there is none. @throws PortolanError `invalid` when there is no server to evaluate them. */
export function filterQuery(flags: FilterFlags): Query | undefined {
  const given = NAMES.filter((name) => flags[name] !== undefined);
  if (given.length === 0) return undefined;
  if (flags.server === undefined)
    throw invalidInput(
      'cli/filter-without-server',
      `--${given[0] === 'onPlatform' ? 'on-platform' : given[0]} works only with --server.`,
      'Pass --server, or select lines of the output: portolan status -o json | jq.',
    );
  return Object.fromEntries(given.map((name) => [name === 'onPlatform' ? 'platform' : name, flags[name]]));
}
