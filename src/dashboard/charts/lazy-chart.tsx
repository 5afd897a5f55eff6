import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading, PartMissing } from '../parts/states.tsx';
import { loadPart } from '../recovery.ts';
import type { ChartProps } from './model.ts';

let loaded: ComponentType<ChartProps> | undefined;
/** The one attempt of all charts of a page. */
let loading: Promise<void> | undefined;

async function loadChart(): Promise<void> {
  loaded = await loadPart('chart', async () => (await import('./chart.tsx')).Chart);
}

/** A chart, whose code loads when the first one is shown. */
export function LazyChart(props: ChartProps) {
  const [Chart, setChart] = useState<ComponentType<ChartProps> | undefined>(() => loaded);
  const [isMissing, setMissing] = useState(false);
  useEffect(() => {
    if (Chart !== undefined) return;
    loading ??= loadChart();
    loading.then(
      () => setChart(() => loaded),
      () => setMissing(true),
    );
  }, []);
  if (isMissing) return <PartMissing what="This chart" />;
  return Chart === undefined ? <Loading lines={3} /> : <Chart {...props} />;
}
