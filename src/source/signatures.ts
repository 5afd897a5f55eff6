import type { SignaturePolicy } from '../configuration/settings/source-spec.ts';
import { invalidInput, PortolanError } from '../model/errors.ts';
import { safeLine } from '../model/text.ts';
import { placeInCheckout } from './checkout.ts';
import type { Git, GitExtras } from './git.ts';

/**
 * Checks that a commit meets the signature policy. Git checks the signature with the programs and keys of the policy, and none
 * that the repository names.
 * @throws PortolanError `ask-human` when the commit has no signature by a trusted key, `invalid` when the trusted keys are in the
 * checkout.
 */
export async function requireSignature(git: Git, commit: string, { by, keys = '' }: SignaturePolicy): Promise<void> {
  if (by === 'nobody') return;
  if ((await placeInCheckout(git.root, keys)) !== undefined)
    throw invalidInput(
      'source/keys-in-checkout',
      `The trusted keys ${keys} are in the checkout ${git.root}, where a commit could change them. Nothing was read.`,
      'Move them elsewhere, and correct spec.source.signatures.keys of Settings.',
    );
  const args = ['log', '-1', '--no-show-signature', '--format=%G?%x00%GS%x00%GF', '--end-of-options', commit];
  const { exitCode, stdout, stderr } = await git.run(args, verifiers(by, keys));
  const [state = '', signer = '', key = ''] = stdout.trimEnd().split('\0');
  if (exitCode === 0 && isGood(by, state, key)) return;
  const who = signer === '' ? '' : ` (signer: ${safeLine(signer)})`;
  const complaint = stderr === '' ? '' : ` Git says: ${safeLine(stderr)}.`;
  throw new PortolanError({
    code: 'source/signature',
    disposition: 'ask-human',
    message: `Commit ${commit.slice(0, 12)} of ${git.root} ${STATES[state] ?? 'cannot be checked'}${who}; spec.source.signatures of Settings requires a good ${by} signature.${complaint} Nothing was done.`,
    remedy: `Sign the commit with a key that is in ${keys}, or add the key there.`,
  });
}

/** Returns whether a signature is good. For ssh, "U" includes unknown keys; in the operator's gpg keyring, every key is trusted. */
function isGood(by: 'ssh' | 'gpg', state: string, key: string): boolean {
  const isSsh = key.startsWith('SHA256:');
  return by === 'ssh' ? isSsh && state === 'G' : !isSsh && (state === 'G' || state === 'U');
}

/** Returns settings that allow one kind of signature and disable all others. */
function verifiers(by: 'ssh' | 'gpg', keys: string): GitExtras {
  const none = '/bin/false';
  const settings = [
    `gpg.program=${by === 'gpg' ? 'gpg' : none}`,
    `gpg.openpgp.program=${by === 'gpg' ? 'gpg' : none}`,
    `gpg.x509.program=${none}`,
    `gpg.ssh.program=${by === 'ssh' ? 'ssh-keygen' : none}`,
    'gpg.minTrustLevel=undefined',
  ];
  if (by === 'gpg') return { settings, environment: { GNUPGHOME: keys } };
  return { settings: [...settings, `gpg.ssh.allowedSignersFile=${keys}`, 'gpg.ssh.revocationFile='] };
}

const STATES: Readonly<Record<string, string>> = {
  B: 'has a bad signature',
  U: 'is signed with an untrusted key',
  X: 'has an expired signature',
  Y: 'is signed with an expired key',
  R: 'is signed with a revoked key',
  E: 'is signed with an unknown key',
  N: 'has no signature that can be checked',
};
