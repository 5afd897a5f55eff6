import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading } from '../parts/states.tsx';
import type { ChartProps } from './model.ts';

let loaded: ComponentType<ChartProps> | undefined;

/** A chart, whose code loads when the first one is shown. */
export function LazyChart(props: ChartProps) {
  const [Chart, setChart] = useState<ComponentType<ChartProps> | undefined>(() => loaded);
  useEffect(() => {
    if (Chart !== undefined) return;
    void import('./chart.tsx').then(({ Chart: found }) => {
      loaded = found;
      setChart(() => found);
    });
  }, []);
  return Chart === undefined ? <Loading lines={3} /> : <Chart {...props} />;
}
