import type { RejectionReason } from '../../platform/verdict.ts';

/** What to do about a refusal that stops the application. */
export const SCOPE_REMEDIES = {
  credentials:
    "Renew the platform's token (spec.auth of Platform in the file given by --config), then run the same command again.",
  'region-not-ready': 'Wait until the region is enabled, then run the same command again.',
  unsent: 'Nothing was sent. See that the platform can be reached, then run the same command again.',
} as const;

/** What to do about any other refusal. */
export const REFUSED_REMEDY =
  'The platform refused it and nothing changed. Correct the manifest or the platform; the next run tries again.';

/** What to do about a refusal, where more is known of it. */
export const REMEDIES: Partial<Record<RejectionReason, string>> = {
  'store-credentials':
    'Nothing was installed. Correct the key of this store in the console, or write spec.url of the Store in another way: the platform keeps the first access key that it gets for the address of a store.',
  'store-failed':
    'Nothing was installed. Check that the application store runs and that the platform can reach it (spec.url of the Store); the next run tries again.',
  'rolled-back':
    'The platform could not install it and removed what it had created. See in the console why; the next run tries again.',
};
