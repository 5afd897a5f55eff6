import type { ControllerObserver } from '../../src/controller/api.ts';

export const silentObserver: ControllerObserver = {
  queued() {},
  began() {},
  ended() {},
  retried() {},
  request() {},
  milestone() {},
  units() {},
  led() {},
  yielded() {},
  fenced() {},
  recordsLost() {},
  databaseAsked() {},
  caughtUp() {},
};
