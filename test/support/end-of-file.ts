import { afterAll } from 'vitest';
import { VirtualClock } from './virtual-clock.ts';

// The next file runs in the same process. A controller that this one left running would take its processor time, and a test that
// replaces timers by its own would never come to its end.
afterAll(() => VirtualClock.endAll());
