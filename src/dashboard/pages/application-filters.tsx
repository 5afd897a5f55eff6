import { useEffect, useRef, useState } from 'preact/hooks';
import { FLEET_STATES, type FleetState } from '../../model/fleet-words.ts';
import type { FleetCounts, FleetFacets } from '../../model/fleet.ts';
import { after } from '../clock.ts';
import { STATES } from '../parts/fleet-words.tsx';
import { Icon } from '../parts/icon.tsx';
import { query, setQuery } from '../router.ts';

/** The search and the filters of the applications. The address holds them. */

const FILTERS = ['q', 'state', 'team', 'region', 'platform', 'label'] as const;

/** Changes filters, and begins at the first page. */
function filter(changes: Parameters<typeof setQuery>[0], isStep = true): void {
  setQuery({ ...changes, cursor: undefined, page: undefined }, isStep);
}

export function clearFilters(): void {
  filter(Object.fromEntries(FILTERS.map((name) => [name, undefined])));
}

/** Returns the number of values that filter. */
export function filterCount(asked: URLSearchParams): number {
  return FILTERS.reduce((sum, name) => sum + asked.getAll(name).filter((value) => value !== '').length, 0);
}

interface FilterProps {
  readonly counts: FleetCounts | undefined;
  readonly facets: FleetFacets | undefined;
}

export function FleetFilters({ counts, facets }: FilterProps) {
  return (
    <section class="fleet-filters" aria-label="Filters">
      <StateFilter counts={counts} />
      <div class="filter-row">
        <SearchFilter />
        <ValueFilter name="platform" label="Platform" facet={facets?.platform} />
        <ValueFilter name="team" label="Team" facet={facets?.team} />
        <ValueFilter name="region" label="Region" facet={facets?.region} />
        {query.value.getAll('label').map((label) => (
          <button
            key={label}
            type="button"
            class="label active"
            aria-label={`Remove the filter ${label}`}
            onClick={() => filter({ label: query.value.getAll('label').filter((one) => one !== label) })}
          >
            {label}
            <Icon name="cross" />
          </button>
        ))}
        {filterCount(query.value) === 0 ? null : (
          <button type="button" class="plain" onClick={clearFilters}>
            Clear all
          </button>
        )}
      </div>
    </section>
  );
}

/** One button for each state that there is, with the number of applications. */
function StateFilter({ counts }: Pick<FilterProps, 'counts'>) {
  const chosen = query.value.getAll('state');
  const all = counts === undefined ? undefined : FLEET_STATES.reduce((sum, state) => sum + counts[state], 0);
  const toggle = (state: FleetState): void =>
    filter({ state: chosen.includes(state) ? chosen.filter((one) => one !== state) : [...chosen, state] });
  return (
    <div class="chips" role="group" aria-label="State">
      <button
        type="button"
        class="chip"
        aria-pressed={chosen.length === 0}
        onClick={() => filter({ state: undefined })}
      >
        All
        <span class="chip-count">{all?.toLocaleString('en') ?? '…'}</span>
      </button>
      {FLEET_STATES.map((state) => {
        const { label, tone, icon } = STATES[state];
        const isChosen = chosen.includes(state);
        const count = counts?.[state] ?? 0;
        if (count === 0 && !isChosen) return null;
        return (
          <button
            key={state}
            type="button"
            class={`chip ${tone}`}
            aria-pressed={isChosen}
            onClick={() => toggle(state)}
          >
            <Icon name={icon} />
            {label}
            <span class="chip-count">{count.toLocaleString('en')}</span>
          </button>
        );
      })}
    </div>
  );
}

/** Time without a key after which what was typed is searched. */
const TYPING_MS = 200;

function SearchFilter() {
  const asked = query.value.get('q') ?? '';
  const [typed, setTyped] = useState(asked);
  const sent = useRef(asked);
  useEffect(() => {
    // The address changed otherwise: a link, or the way back.
    if (asked !== sent.current) {
      sent.current = asked;
      setTyped(asked);
    }
  }, [asked]);
  useEffect(() => {
    if (typed === sent.current) return undefined;
    return after(TYPING_MS, () => {
      sent.current = typed;
      filter({ q: typed }, false);
    });
  }, [typed]);
  return (
    <label class="search filter-search">
      <span class="hidden">Find applications by name, scope or label</span>
      <Icon name="search" />
      <input
        type="search"
        value={typed}
        placeholder="Name, scope or label"
        autoComplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
    </label>
  );
}

interface ValueProps {
  readonly name: 'platform' | 'team' | 'region';
  readonly label: string;
  readonly facet: FleetFacets['team'] | undefined;
}

/** A choice among the values that there are. With one value, there is nothing to choose. */
function ValueFilter({ name, label, facet = [] }: ValueProps) {
  const chosen = query.value.get(name) ?? '';
  const values = facet.map(({ value }) => value);
  if (chosen === '' && values.length < 2) return null;
  const shown = chosen === '' || values.includes(chosen) ? values : [chosen, ...values];
  return (
    <label class="value-filter">
      <span>{label}</span>
      <select value={chosen} onChange={({ currentTarget }) => filter({ [name]: currentTarget.value })}>
        <option value="">Any</option>
        {shown.map((value) => (
          <option key={value} value={value}>
            {value}
          </option>
        ))}
      </select>
    </label>
  );
}
