import type { Lead } from '../../ledger/shared.ts';
import { parseScopeKey } from '../../model/ids.ts';
import type { Core } from '../core.ts';
import type { AppRecord } from '../ledger-records.ts';
import { platformUnit } from './leadership.ts';

/** Makes the controller begin and finish work as this process gains and loses units. */
export function followLeads(core: Core): void {
  core.leadership.onChange(async ({ type, lead }) => {
    const records = [...core.records.values()].filter(({ status }) => platformUnit(status.platform) === lead.unit);
    switch (type) {
      case 'taken':
        return beginLead(core, lead, records);
      case 'leading':
        for (const { id } of records) core.queue.restart(id, 'this controller leads its platform now');
        return;
      case 'leaving':
        return finishWork(core, lead);
      case 'ended':
        return;
    }
  });
}

/**
 * Forgets what this process knew when it led the platform before, or what only the leader knows; `shared-state.ts` reads what the
 * former leader recorded.
 */
function beginLead(core: Core, { unit }: Lead, records: readonly AppRecord[]): void {
  core.shared?.forget();
  core.gates.beginLead();
  for (const record of records) core.gates.forget(record);
  core.claims.releaseScopes((scope) => {
    const platform = parseScopeKey(scope)?.platform;
    return platform !== undefined && platformUnit(platform) === unit;
  });
}

/** Waits for the work of a unit, as long as the settings allow. The next leader observes the rest. */
async function finishWork({ unitWork, configuration, options }: Core, { unit }: Lead): Promise<void> {
  const { drainTimeoutMs } = configuration.settings.controller;
  const giveUp = new AbortController();
  const tooLate = options.clock.sleep(drainTimeoutMs, giveUp.signal).then(
    () => 'too late',
    () => 'ended',
  );
  const how = await Promise.race([unitWork.ended(unit), tooLate]);
  giveUp.abort();
  if (how === 'too late')
    options.log.error(
      `the work of ${unit} did not end within ${drainTimeoutMs / 1000} s; its next leader resolves it by observation`,
    );
}
