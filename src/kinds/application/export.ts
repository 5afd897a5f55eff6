import type { ExportedDocument, LiveApplication } from '../export.ts';
import { legibleName } from '../export-names.ts';

/** Returns a name for the manifest of an application: its present name, the name in the cluster, or its number. */
export function wishedApplicationName({ name, k8sApp, scope, manifestName }: LiveApplication): string {
  if (manifestName !== undefined) return manifestName;
  const own = [name, k8sApp ?? ''].find((candidate) => legibleName(candidate) !== undefined);
  return own ?? `app-${scope.appId}`;
}

/** Returns the Application document, which the other documents refer to. */
export function applicationDocument({ scope, name }: LiveApplication, documentName: string): ExportedDocument {
  const { platform, team, region, appId } = scope;
  return {
    kind: 'Application',
    name: documentName,
    spec: { ...(platform === 'default' ? {} : { platform }), team, region, appId },
    remarks:
      name === documentName ? [] : [{ at: ['spec', 'appId'], text: `called ${JSON.stringify(name)} on the platform` }],
  };
}
