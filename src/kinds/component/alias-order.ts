/** An alias that a port has and shall lose for another. */
export interface AliasMove {
  readonly port: number;
  readonly from: string;
  readonly to: string;
}

export interface AliasStep {
  /** `park` breaks a circle: the alias is wanted by another port of it. */
  readonly type: 'set' | 'park';
  readonly port: number;
  readonly alias: string;
}

/** A move that cannot be made, because a port that is not moving has the alias, or two ports share one. */
export interface AliasConflict {
  readonly port: number;
  readonly alias: string;
  readonly heldBy: number;
  readonly reason: 'in-use' | 'shared';
}

const ALIAS_LENGTH_MAX = 64;

/**
 * Orders alias changes so that no port ever takes an alias that a sibling still has. The platform refuses that, and
 * two ports that already share one alias make it fail half-way, so such ports are left alone.
 * @param aliases every port of the component and its alias now.
 */
export function orderAliasMoves(
  aliases: ReadonlyMap<number, string>,
  moves: readonly AliasMove[],
): { readonly steps: readonly AliasStep[]; readonly conflicts: readonly AliasConflict[] } {
  const current = new Map(aliases);
  const steps: AliasStep[] = [];
  const conflicts: AliasConflict[] = [];
  let pending: AliasMove[] = [];
  for (const move of moves) {
    const twin = holderOf(current, move.from, move.port);
    if (twin === undefined) pending.push(move);
    else conflicts.push({ port: move.port, alias: move.from, heldBy: twin, reason: 'shared' });
  }
  while (pending.length > 0) {
    const free = pending.find((move) => holderOf(current, move.to, move.port) === undefined);
    if (free !== undefined) {
      steps.push({ type: 'set', port: free.port, alias: free.to });
      current.set(free.port, free.to);
      pending = pending.filter((move) => move !== free);
      continue;
    }
    const stuck = pending.filter(
      (move) => !pending.some((other) => other.port === holderOf(current, move.to, move.port)),
    );
    if (stuck.length > 0) {
      for (const move of stuck) {
        conflicts.push({
          port: move.port,
          alias: move.to,
          heldBy: holderOf(current, move.to, move.port) ?? move.port,
          reason: 'in-use',
        });
      }
      pending = pending.filter((move) => !stuck.includes(move));
      continue;
    }
    const parked = pending[0];
    if (parked === undefined) break;
    const alias = temporaryAlias(parked.to, current);
    steps.push({ type: 'park', port: parked.port, alias });
    current.set(parked.port, alias);
  }
  return { steps, conflicts };
}

function holderOf(aliases: ReadonlyMap<number, string>, alias: string, except: number): number | undefined {
  for (const [port, value] of aliases) if (value === alias && port !== except) return port;
  return undefined;
}

function temporaryAlias(wanted: string, aliases: ReadonlyMap<number, string>): string {
  const taken = new Set(aliases.values());
  for (let attempt = 0; ; attempt += 1) {
    const suffix = attempt === 0 ? '_SWAP' : `_SWAP${attempt}`;
    const alias = wanted.slice(0, ALIAS_LENGTH_MAX - suffix.length) + suffix;
    if (!taken.has(alias)) return alias;
  }
}
