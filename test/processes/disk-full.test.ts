import { expect, test } from 'vitest';
import { applyOnFullDisk } from './disk-full.ts';

/** Between the size of an empty ledger and of a full one with its log: the disk fills before, at and after a write. */
const LIMITS_KIB =
  process.env['PORTOLAN_TEST_LONG'] === '1'
    ? Array.from({ length: 48 }, (_, index) => 80 + index * 8)
    : [100, 140, 260];

test.for(LIMITS_KIB)(
  'no file may grow beyond %d KiB: what was sent is known, nothing is sent blindly, and it goes on with space',
  async (limitKib) => {
    const full = await applyOnFullDisk(limitKib);
    expect(full.findings).toEqual([]);
    expect(full.free, full.said).toBe(0);
    expect(full.installs).toEqual(['0a1b2c']);
    expect([...full.rules].sort()).toEqual(['api.shop.example.com/v1', 'www.shop.example.com/']);
    expect(full.said).not.toContain('full-disk-key');
    if (full.limited === 0) return;
    expect(full.limited, full.said).toBe(1);
    expect(full.said).toMatch(/could not be (?:read or )?written|is full/);
    expect(full.said).not.toContain('appeared during the run');
  },
);
