import type { Seed } from '../seed.ts';

/** The components of the first recording, which were inserted into its database manually. */
const details = { desc: null, cmd: null, language: 'docker-image', git_url: null, docker_cmd: null, total_memory: 0 };

/** The small team that the recorded exchanges of a real server were made against. */
export const recordedSeed: Seed = {
  enterprise: { id: 'e'.repeat(32) },
  monitoring: 'lossy',
  regions: [
    { id: '1'.repeat(32), name: 'rainbond', alias: 'Region One', ruleDomain: 'rainbond.example.com' },
    { id: '3'.repeat(32), name: 'region-maint', alias: 'Region Maint', status: '3' },
  ],
  teams: [{ id: 'd'.repeat(32), name: 'team-a', regions: ['rainbond'] }],
  applications: [
    {
      id: 1,
      team: 'team-a',
      region: 'rainbond',
      name: 'app-one',
      components: [
        {
          id: 'a'.repeat(32),
          alias: 'gra00001',
          name: 'web',
          details,
          ports: [{ port: 80, inner: true }, { port: 8080 }],
        },
        { id: 'b'.repeat(32), alias: 'gra00002', name: 'api', details, ports: [{ port: 8000, inner: true }] },
        { id: 'c'.repeat(32), alias: 'gra00003', name: 'db', details, status: 'closed', monitored: false },
      ],
    },
  ],
};
