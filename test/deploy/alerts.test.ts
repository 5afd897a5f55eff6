/** Alerts over series of some hours, as Prometheus evaluates them: promtool runs the rules, where it is installed. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { temporaryFolder } from '../cli/platform.ts';
import { read } from './chart.ts';
import type { Part } from './kubernetes.ts';

/** Values of one series, a minute apart, in the notation of promtool. */
type Series = Readonly<Record<string, string>>;

interface Scene {
  readonly alert: string;
  readonly series: Series;
  /** Minutes at which it does not fire, and at which it fires with these labels. */
  readonly silentAt: readonly number[];
  readonly firesAt: readonly number[];
  readonly labels: Readonly<Record<string, string>>;
}

const MINUTES = 1_600;
const ALWAYS = `1+0x${MINUTES}`;
const until = (minute: number): string => `1+0x${minute} stale`;
const of = (name: string, instance: string, more = ''): string =>
  `${name}{job="portolan", namespace="apps", instance="${instance}"${more}}`;
const lease = (instance: string): string => of('portolan_lease_held', instance, ', unit="platform:east"');
const synced = (instance: string, status: string): string =>
  of('git_sync_count_total', instance, `, status="${status}"`);
const hangs = 'workqueue_longest_running_processor_seconds';

const SCENES: Readonly<Record<string, Scene>> = {
  'one of three replicas is missing, and the fourth of a rolling update is not missed': {
    alert: 'PortolanReplicaMissing',
    series: {
      [lease('a')]: ALWAYS,
      [lease('b')]: ALWAYS,
      [lease('c')]: until(1_500),
      [lease('d')]: `_x700 1+0x10 stale`,
    },
    silentAt: [30, 705, 740, 1_499, 1_514],
    firesAt: [1_520, 1_590],
    labels: { severity: 'warning', job: 'portolan', namespace: 'apps' },
  },
  'a controller that stays without a commit': {
    alert: 'PortolanStarting',
    series: {
      [of('portolan_phase', 'a', ', phase="starting"')]: `1+0x60 0+0x60`,
      [of('portolan_phase', 'b', ', phase="starting"')]: `1+0x5 0+0x60`,
    },
    silentAt: [10, 70],
    firesAt: [20, 60],
    labels: { severity: 'warning', job: 'portolan', namespace: 'apps', instance: 'a', phase: 'starting' },
  },
  'git-sync fetches nothing any more, and one beside another program is not ours': {
    alert: 'PortolanGitSyncFailing',
    series: {
      [of('portolan_build_info', 'a:7780')]: ALWAYS,
      [synced('a:7781', 'noop')]: '0+6x60 360+0x60 360+6x60',
      [synced('a:7781', 'error')]: '0+0x60 0+6x60 360+0x60',
      [synced('b:7781', 'noop')]: '0+6x180',
      [synced('b:7781', 'error')]: '0+1x180',
      'git_sync_count_total{job="airflow", namespace="data", instance="c", status="error"}': '0+6x180',
    },
    silentAt: [50, 70, 140],
    firesAt: [100, 120],
    labels: { severity: 'warning', job: 'portolan', namespace: 'apps', instance: 'a:7781' },
  },
  'a pass hangs, and one of another controller is not ours': {
    alert: 'PortolanPassHangs',
    series: {
      [of('portolan_build_info', 'a')]: ALWAYS,
      [of(hangs, 'a', ', name="application"')]: '0+60x60 0+0x60',
      [`${hangs}{job="vela", namespace="vela-system", instance="b", name="application"}`]: '7200+0x120',
    },
    silentAt: [30, 70],
    firesAt: [40],
    labels: { severity: 'warning', job: 'portolan', namespace: 'apps', instance: 'a', name: 'application' },
  },
};

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;

test.runIf(hasPromtool).for(Object.entries(SCENES))('%s', ([, { alert, series, silentAt, firesAt, labels }]) => {
  const folder = temporaryFolder();
  const file = join(folder, 'scene.yaml');
  // Without the texts, which promtool would compare, too.
  const rules = parse(read('monitoring', 'prometheus-rules.yaml')) as Part;
  for (const rule of rules.groups.flatMap((group: Part) => group.rules)) delete rule.annotations;
  writeFileSync(join(folder, 'rules.yaml'), stringify(rules));
  const expectation = (minute: number, alerts: readonly object[]) => ({
    eval_time: `${minute}m`,
    alertname: alert,
    exp_alerts: alerts,
  });
  const scene = {
    interval: '1m',
    input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
    alert_rule_test: [
      ...silentAt.map((minute) => expectation(minute, [])),
      ...firesAt.map((minute) => expectation(minute, [{ exp_labels: labels }])),
    ],
  };
  writeFileSync(file, stringify({ rule_files: ['rules.yaml'], evaluation_interval: '1m', tests: [scene] }));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
});
