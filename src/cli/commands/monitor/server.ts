import { invalidInput } from '../../../model/errors.ts';
import { parseScopeKey } from '../../../model/ids.ts';
import type { MonitoringHistory } from '../../../model/monitoring.ts';
import { type ChartFilter, chartsOf } from '../../../views/charts.ts';
import { monitorsOf, POINTS_MAX, POINTS_MIN } from '../../../views/monitoring.ts';
import { openServer } from '../../server/client.ts';
import type { ServerFlags } from '../../server/options.ts';
import type { Surroundings } from '../../session/command.ts';
import type { Seen } from './formats.ts';
import { type When, windowOf } from './window.ts';

interface ServerMonitorOptions extends ServerFlags, ChartFilter {
  readonly since: When;
  readonly until: When;
  readonly step: number;
  readonly outer?: true | undefined;
}

/**
 * Returns a function that reads the monitoring history through a running controller, which chooses a step near the requested one.
 * @throws PortolanError `invalid` for an option that the controller does not have.
 */
export function observeServer(
  name: string,
  options: ServerMonitorOptions,
  surroundings: Surroundings,
): () => Promise<Seen> {
  if (options.outer === true)
    throw invalidInput(
      'monitor/outer-server',
      'A controller returns all components, so --outer does not work with --server. Nothing was read.',
      'Pass --component, or leave --server out.',
    );
  const server = openServer(options, surroundings);
  return async () => {
    const { startSeconds, endSeconds, stepSeconds } = windowOf(options, surroundings.clock.now());
    const wanted = Math.ceil((endSeconds - startSeconds) / stepSeconds);
    const points = Math.max(POINTS_MIN, Math.min(POINTS_MAX, wanted));
    const query = { from: startSeconds * 1000, to: endSeconds * 1000, points };
    const path = `applications/${encodeURIComponent(name)}/monitoring`;
    const history = (await server.get(path, 'series', query)) as unknown as MonitoringHistory;
    const { fromMs, toMs, stepMs, source, samplesLost: isEmpty, marks } = history;
    const scope = parseScopeKey(history.scope) ?? { platform: '', team: '', region: '', appId: 0 };
    return {
      scope,
      window: { startSeconds: fromMs / 1000, endSeconds: toMs / 1000, stepSeconds: stepMs / 1000 },
      components: chartsOf(monitorsOf(history), options),
      monitoring: { source, isEmpty },
      marks,
    };
  };
}
