import { SIGN_IN_PROBLEMS } from '../src/server/sign-in/problems.ts';

/** Cause and remedy of codes whose texts are composed while the program runs, so that they cannot be read from the code. */

const NONE = 'None is needed: this is a note.';
const PASSES = 'Portolan retries automatically. If it lasts, check the log of the platform for this time.';
const DOUBT =
  'Look at the platform, then run `portolan ledger resolve ID --applied` or `--not-applied`. `portolan ledger list` shows the id and the evidence.';
const FETCH = 'Portolan retries automatically. Follow the text that Git gave, which is in the message.';
const SYNC =
  'Correct the commit, or raise the limit in `spec.source.limits` of Settings; then run `portolan sync --all --server URL`.';

/** Code → cause, remedy. A text here takes precedence over the text of the code. */
export const ERROR_NOTES: Readonly<Record<string, readonly [cause: string, remedy: string]>> = {
  'action/in-doubt': [
    'A change was sent, and its response was lost.',
    'Do nothing: Portolan observes the platform until the outcome is known. `portolan ledger list` shows the change.',
  ],
  'application/ambiguous': [
    'The manifest names an application by its name, and the team has several applications of that name in the region, or none.',
    'Write `spec.appId`, the number of the application, in place of `spec.app`.',
  ],
  'application/not-healthy': [
    'The status or the monitoring of an application does not meet the `health` of its manifest.',
    'Check its components: `portolan monitor NAME`.',
  ],
  'application/vanished': [
    'An application was deleted on the platform while Portolan worked on it.',
    'Restore the application on the platform, or remove its manifests from git.',
  ],
  'apply/done': ['The action was done.', NONE],
  'apply/failed': ['The platform refused the action, or it could not be sent.', 'Follow the message of the action.'],
  'apply/in-doubt': [
    'The action was sent, and its outcome is unknown.',
    'Apply again after the settle window: Portolan observes the platform first.',
  ],
  'apply/incomplete': [
    'A pass of the controller ended before all changes were done.',
    'Portolan retries automatically. The events of its actions show the causes.',
  ],
  'apply/left': ['The action was not tried, because the run ended before it.', 'Apply again.'],
  'apply/skipped': [
    'The action was not started, because another action that it requires did not succeed.',
    'Correct the cause of the other action, then apply again.',
  ],
  'apply/waiting': [
    'The action was done, and its effect is pending, for example because an install is still building.',
    NONE,
  ],
  'cli/server-unreachable': [
    'The controller at the address of `--server` does not answer.',
    'Check that `portolan run` runs there, and that the address and the port are correct.',
  ],
  'cli/unknown-resource': [
    'A flag names a resource that is not among the manifests. Nothing was done.',
    'Write the name as Kind/name, such as `Component/shop-web`. The message lists the names.',
  ],
  'cli/unknown-setting': [
    '`--set` or a variable names a setting that does not exist.',
    'Run `portolan config`: it lists all settings.',
  ],
  'component/endpoint-broken': [
    'The protocol of a port was changed, and its endpoint on the platform does not work since.',
    'Check the port in the console: close and open its outer access there.',
  ],
  'component/restored': ['A port was removed from its manifest and has its former values again.', NONE],
  'component/withdrawn': ['A component or a port was removed from its manifest. It is not managed any more.', NONE],
  'conformance/nothing-to-work-in': [
    '`portolan conformance` has no application or store to work in.',
    'Name a disposable application that has components with `--app` and `--disposable`; or name a store and a model with `--store-url` and `--model`.',
  ],
  'dashboard/fault': ['A page of the dashboard failed because of a bug.', 'Reload the page, and report the bug.'],
  'document/kind': ['A document has no `kind`, or an unknown one.', 'Write one of the [kinds](../kinds/README.md).'],
  'document/trust': [
    'A kind of the configuration is in a source, or a kind of manifest is in the configuration.',
    'Move the document: `Platform`, `Store` and `Settings` belong to the file of `--config`, all other kinds to the source.',
  ],
  'document/unreadable': [
    'A YAML document cannot be read, for an unknown reason.',
    'Report it as a bug, with the document.',
  ],
  'drift/detected': [
    'The platform differs from the value that was applied last: a person or another program changed it.',
    'Make such changes in git. Portolan corrects the drift, unless the resource is only reported or its application is paused.',
  ],
  'guard/budget': [
    'One source would remove or close more in 24 hours than `spec.prune.dailyObjects` and `spec.prune.dailyShare` allow.',
    'Read the plan. If the removals are wanted, approve it (daemon) or pass the flag that the message names; or wait until the budget has room again.',
  ],
  'guard/empty-source': [
    'The source has no manifest, and the ledger has resources of it. Nothing was sent.',
    'Correct the path or the commit. If everything should be removed, pass `--allow-empty`.',
  ],
  'guard/not-descendant': [
    'The commit does not descend from the one that was applied before, for example because the branch was rewound. Removals would follow, so nothing was sent.',
    'Check the branch. If it is correct, approve the plan (daemon) or pass `--allow-rewind`.',
  ],
  'guard/prunes': [
    'The plan removes or closes more objects than `spec.prune.maxObjects`. Nothing was sent.',
    'Read the plan. If it is correct, approve it (daemon) or pass `--max-prunes N`.',
  ],
  'guard/share': [
    'The plan changes or removes a larger share of an application or of the source than `spec.prune.maxShare`. Nothing was sent.',
    'Read the plan. If it is correct, approve it (daemon) or pass `--max-share SHARE`.',
  ],
  'guard/shrunk-source': [
    'The source has lost half of its resources or more, and removals would follow. Nothing was sent.',
    'Check that all files are there. If they are, approve the plan (daemon) or pass `--allow-shrunk`.',
  ],
  'guard/window': [
    'A sync window of `spec.windows` forbids changes now. Nothing was sent.',
    'Wait for the time in the message, or pass `--ignore-windows --reason "…"` to `apply`.',
  ],
  'guard/approval': [
    'The plan waits for an approval.',
    'Read the plan with `portolan approve APP`, then run `portolan approve APP DIGEST`.',
  ],
  'guard/policy': [
    'A policy of the operator denies the manifest or the plan.',
    'Correct the manifest. `spec.policies` of Settings has the policy and its message.',
  ],
  'history/revert-conflict': [
    'Later commits changed the same lines, so no patch can undo the commit.',
    'Write the former values in a new commit: `portolan history APP` shows them.',
  ],
  'history/revert-unprintable': [
    'The files of the commit contain characters that cannot be printed.',
    'Undo the commit with git: `git revert COMMIT`.',
  ],
  'install/adopted': ['An existing install was adopted unchanged.', NONE],
  'install/ambiguous-adoption': [
    'Several installs of the platform fit the manifest.',
    'Remove the copies on the platform, or name the components of one of them.',
  ],
  'install/build-failed': [
    'The build of a component of an install failed. The message has the last lines of its log.',
    'Correct the cause on the platform and build the component again there; then sync the application.',
  ],
  'install/building': ['The components of an install are being built.', NONE],
  'install/contradiction': ['The answer to an install and the list of components contradict each other.', DOUBT],
  'install/in-doubt': [
    'The response to an install was lost, and the platform cannot list components, so nothing proves its outcome.',
    DOUBT,
  ],
  'install/presumed': ['Without a ledger, an installed model counts as the install of the manifest.', NONE],
  'install/refused-and-changed': [
    'The platform refused an install, but the application has other components than before.',
    DOUBT,
  ],
  'install/renamed': ['An install has a new name in git and was recorded under it.', NONE],
  'install/store-failed': ['The platform could not list what is installed, so nothing is installed.', PASSES],
  'install/two-groups': [
    'Two groups of components appeared where one install was sent: another program installed at the same time.',
    DOUBT,
  ],
  'install/upgrade-in-doubt': [
    'The response to an upgrade was lost, and the images of the components prove neither outcome.',
    DOUBT,
  ],
  'install/version-adopted': ['The version of an install was recorded, because of `--adopt`. Nothing was sent.', NONE],
  'install/withdrawn': [
    'An install was removed from git. Installs are never removed, so its components stay, unmanaged.',
    'To remove them, delete the components in the console.',
  ],
  'intent/settling': [
    'A request was sent and its response was lost. The settle window has not ended, so the request could still arrive.',
    'Wait: the next pass after the settle window reads the platform and decides. `portolan apply --wait` waits for it.',
  ],
  'intent/unknown-kind': [
    'The ledger has a request of a kind that this version does not know.',
    'Use the version of Portolan that sent the request, or a newer one.',
  ],
  'ledger/cannot-adopt': [
    'The rule cannot be adopted, for the reason in the message.',
    'Follow the message; `portolan ledger show RESOURCE` shows the record.',
  ],
  'ledger/intent-settling': [
    'The settle window of the request has not ended, so it could still arrive. Nothing was recorded.',
    'Wait until the time in the message, then run the command again.',
  ],
  'ledger/locked': [
    'Another process holds the ledger, mostly the daemon. The ledger was not opened, and nothing was changed.',
    'Wait until that process ends. If it is the daemon, commit the change and use `--server`. There is no lock file to remove: the lock ends with its process.',
  ],
  'ledger/refused': [
    'PostgreSQL refuses the connection or the statement. Nothing was recorded.',
    'Follow the message, which has the words of the database.',
  ],
  'ledger/replaced': [
    'The file or the database of the ledger was removed, replaced or restored while a process used it. Nothing more is sent.',
    'Put the ledger back, or restore a backup with `portolan ledger restore`.',
  ],
  'ledger/full': [
    'The disk of the ledger is full. Nothing was recorded, so nothing more is sent to the platform.',
    'Free space, or run `portolan ledger compact`. Writing works again when there is space.',
  ],
  'limit/faults': ['A file has more faults than are shown.', 'Correct those that are shown first.'],
  'monitor/bad-window': [
    '`--since`, `--until` and `--step` do not form a time range with a reasonable number of samples.',
    'Use a larger `--step`, or a shorter range.',
  ],
  'monitoring/bad-window': [
    'The parameters `from`, `to` and `points` do not form a time range.',
    'Request at most 31 days, with `from` before `to`.',
  ],
  'plan/blocked': [
    'A change waits for another change of the same plan, which is held.',
    'Release what it waits for first.',
  ],
  'plan/create': ['An object will be created on the platform.', NONE],
  'plan/update': ['An object on the platform will be changed.', NONE],
  'plan/delete': ['An object on the platform will be removed or closed.', NONE],
  'plan/drift': ['The platform drifted from git and will be corrected.', NONE],
  'plan/deferred': ['The change is pending until an install returns the id that it needs.', NONE],
  'plan/not-expected': [
    'The digest of the plan is not that of `--expect`. Nothing was sent.',
    'Read the plan, and pass its digest if it is the plan that you want.',
  ],
  'plan/stale': [
    'A saved plan is stale: the manifests or the platform have changed since. Nothing was sent.',
    'Plan and save again.',
  ],
  'plan/superseded': [
    'A later commit was applied after the plan was saved, and the saved plan would revert it. Nothing was sent.',
    'Plan and save again.',
  ],
  'platform/busy': ['The platform answers that it is busy (429 or 409).', PASSES],
  'platform/circuit-open': [
    'A region failed repeatedly, so it gets no requests until the time in the message.',
    'Check the region on the platform. Portolan tries it again by itself.',
  ],
  'platform/credentials': [
    'The platform answers 401: the token is missing, wrong or expired.',
    'Renew the token that `spec.auth.value` of the Platform refers to.',
  ],
  'platform/forbidden': [
    'The platform answers 403: it knows the token, which may not do this.',
    'Give the user of the token the permission, or use a token that has it.',
  ],
  'platform/invalid-url': ['`spec.url` of the Platform cannot be used.', 'Follow the message.'],
  'platform/not-found': [
    'The platform has no such address.',
    'Check `spec.url` of the Platform, and the team, region and number in the Application.',
  ],
  'platform/not-json': [
    'The answer is not JSON: probably a proxy or a login page answered.',
    'Check that `spec.url` of the Platform is the base URL of the API.',
  ],
  'platform/redirect': [
    'The platform redirects. Redirects are not followed, because the token must not travel to another address.',
    'Set `spec.url` of the Platform to the final address: https:// in place of http://.',
  ],
  'platform/refused': [
    'The platform refuses the request, or reports a failure in a successful answer.',
    'Follow the message of the platform.',
  ],
  'platform/region-licence': [
    'The licence of the region has expired. The token is not the cause.',
    'Renew the licence of the region on the platform.',
  ],
  'platform/region-not-ready': [
    'The region is not enabled, or the team is not set up in it.',
    'Enable the region, or set the team up in it. Nothing is written until then.',
  ],
  'platform/region-paused': [
    'The region accepts no changes, for example during maintenance.',
    'Portolan resumes when the platform enables the region.',
  ],
  'platform/server-error': ['The platform, or the cluster behind it, failed.', PASSES],
  'platform/store-credentials': [
    'The application store refused the access key that the platform has for it.',
    'Correct the access key of the store in the console: the platform keeps the first key that it gets for the address of a store.',
  ],
  'platform/store-failed': [
    'The platform could not read its application store.',
    'Check that the application store runs and that the platform can reach it.',
  ],
  'platform/too-large': [
    'An answer is larger than any real one.',
    'Check that `spec.url` of the Platform is the base URL of the API.',
  ],
  'platform/unknown-application': [
    'The platform has no such application.',
    'Correct `spec.appId` of the Application, or create the application on the platform.',
  ],
  'platform/unknown-component': [
    'The platform has no such component, or it belongs to another application.',
    'Correct `spec.serviceId` of the Component.',
  ],
  'platform/unknown-region': [
    'The platform has no such region.',
    'Correct `spec.region` of the Application; `portolan regions` lists the regions.',
  ],
  'platform/unknown-team': ['The platform has no such team.', 'Correct `spec.team` of the Application.'],
  'platform/unreachable': [
    'The platform did not answer: connection refused, timed out, or a fault of TLS. The message has the reason.',
    'Check the network between here and the platform, and its certificate.',
  ],
  'policy/denied': ['A policy of the operator denies the manifest.', 'Correct the manifest.'],
  'policy/ignored': ['A policy denies it, and a person ignored the policy with a reason.', NONE],
  'policy/warning': [
    'A policy of the operator warns about it.',
    'Correct the manifest if the warning is right. Nothing is held.',
  ],
  'prune/impossible': ['This server cannot delete ports or rules, so the object stays.', 'Delete it in the console.'],
  'prune/kept': ['The object stays, because its manifest said `portolan/prune: keep`.', NONE],
  'prune/not-asked': [
    'The object was removed from git and stays until `apply --prune`.',
    'Run `portolan apply --prune`, or let the daemon prune.',
  ],
  'reconcile/report-only': [
    'The resource differs, and is only reported, by its annotation `portolan/reconcile: report`.',
    'Remove the annotation to have it corrected.',
  ],
  'reconcile/suspended': [
    'The resource is suspended by its annotation: it is neither compared nor changed.',
    'Remove the annotation `portolan/reconcile: suspend`.',
  ],
  'reference/dangling': [
    'A document refers to another one that does not exist.',
    'Correct the name, or add the document.',
  ],
  'rule/adopted': ['An existing rule was recorded unchanged.', NONE],
  'rule/assumed': [
    'The answer to a creation was lost, and the platform cannot show some fields: Portolan assumes that they are as sent.',
    'Check these fields in the console.',
  ],
  'rule/certificate-domain': [
    'The certificate of the rule is for another domain.',
    'Name a certificate for the domain of the rule.',
  ],
  'rule/certificate-expired': [
    'The certificate of the rule has expired.',
    'Upload a new certificate on the platform, and name it.',
  ],
  'rule/certificate-unchecked': ['The certificate of the rule could not be read.', PASSES],
  'rule/closed': [
    'The rule does not answer requests, because its port is closed.',
    'Open outer access of the port, in the manifest or in the console.',
  ],
  'rule/elsewhere': [
    'A rule that was not there before has an id or a place that differs from the request.',
    'Look at the rule in the console, and decide with `portolan ledger resolve`.',
  ],
  'rule/exists-again': ['A rule was deleted to be recreated, and another program has created it meanwhile.', NONE],
  'rule/gone': ['A rule was removed from git, and does not exist on the platform any more.', NONE],
  'rule/left': [
    'A rule was removed from git. Portolan did not create it, so it stays unchanged.',
    'Delete it in the console if it should not exist.',
  ],
  'rule/unverified': ['The rule exists, and this server cannot show its fields.', NONE],
  'rule/weights': ['The weights of the rules of one route do not add up to 100.', 'Correct the weights.'],
  'rule/withdrawn': ['A rule was removed from git. It was never managed and stays.', NONE],
  'schema/unknown-annotation': [
    'The annotation is unknown.',
    'Correct its name: [every document](../kinds/README.md#every-document) lists the annotations.',
  ],
  'schema/unknown-field': [
    'The document has a field that its kind does not have.',
    'Correct the name: `portolan explain KIND` lists the fields.',
  ],
  'server/bad-request': ['The request cannot be read.', '`GET /api/v1/openapi.json` has the schema of the request.'],
  'server/busy': [
    'The controller works on as many requests as it accepts at the same time.',
    'Retry in a few seconds, and send fewer requests at the same time.',
  ],
  'server/session-ended': ['The session of the browser has ended.', 'Sign in again.'],
  'server/unreadable-tls': [
    'A file of `spec.server.tls` cannot be read or is not valid.',
    'Correct the path, the permissions or the file.',
  ],
  'server/wrong-token': ['The token for the sign-in is not valid.', 'Use one of `spec.server.tokens` of Settings.'],
  'settings/duplicate-receiver': ['Two receivers of notifications have the same name.', 'Give each a name of its own.'],
  'settings/plain-http': ['A receiver of notifications is plain http to another machine.', 'Write an https address.'],
  'settings/policy-expression': [
    'The expression of a policy has a fault.',
    'Correct the expression; [ten examples](../../../examples/policies/policies.yaml) are ready to copy.',
  ],
  'settings/receiver': [
    'A receiver lacks a field of its type, or has a field of another type.',
    'Follow the message: it lists the fields of the type.',
  ],
  'settings/source-credentials': [
    'The credentials do not fit the address of the source.',
    'https takes `username` and `password`; ssh takes `sshKey` and `knownHosts`.',
  ],
  'settings/unknown-receiver': [
    'A route names a receiver that does not exist.',
    'Correct the name, or add the receiver.',
  ],
  'settings/window-duration': [
    'The duration of a window is not possible.',
    'Write more than 0s and at most 8784h, which is 366 days.',
  ],
  'settings/window-schedule': [
    'The schedule of a window is not valid.',
    'Write five fields of cron (minute, hour, day of month, month, day of week), such as `0 22 * * 1-5`.',
  ],
  'source/application-removed': [
    'An Application was removed from git. Its resources stay on the platform as orphans.',
    'Restore the Application in git, or remove the resources with `portolan orphans prune`.',
  ],
  'source/empty': [
    'The source has no manifest.',
    'Correct the path after `-f`. If there is nothing to manage yet, pass `--if-empty ok`.',
  ],
  'source/not-read-yet': [
    'The controller has not read its source yet.',
    'Portolan retries automatically. Check that the source can be reached if this lasts.',
  ],
  'source/out-of-memory': [
    'Reading the commit took more memory than `spec.source.limits.heapMib`. The commit is rejected.',
    SYNC,
  ],
  'source/thread-failed': [
    'The thread that reads commits ended because of a bug. The commit is rejected.',
    'Report it as a bug. Later commits are read.',
  ],
  'source/too-slow': [
    'Reading the commit took longer than `spec.source.limits.timeout`. The commit is rejected.',
    SYNC,
  ],
  'source/remote-failed': ['The server of `spec.source.url` cannot be reached, or is not a git server.', FETCH],
  'undo/git-changes-back': [
    'The undo differs from git, so the next pass applies the values of git again.',
    'Revert the commit in git, too.',
  ],
  'undo/impossible': [
    'A change of the run cannot be undone, for the reason in the message.',
    'Write the values that you want in git.',
  ],
  'undo/not-in-git': [
    'The undo lasts until the manifests are applied again.',
    'Commit the former values, or undo the commit with `portolan history APP --revert COMMIT`.',
  ],
  'undo/not-pruned': ['The run created a resource, and undoing that would remove it.', 'Pass `--prune` to remove it.'],
  'yaml/key': ['A key is missing, or is not text.', 'Write the key as text, in quotes if necessary.'],
};

/** Literals with the form of a code that are something else. */
export const NOT_CODES: ReadonlySet<string> = new Set([
  // Media types.
  'application/json',
  'application/x-www-form-urlencoded',
  'text/event-stream',
  'text/html',
  'text/plain',
  // Annotations of manifests.
  'portolan/moved-from',
  'portolan/on-removal',
  'portolan/overwrite-hidden',
  'portolan/prune',
  'portolan/reconcile',
  'portolan/substitute',
  // Facts of the ledger, keys of steps, paths in examples.
  'events/stream',
  'ledger/platforms',
  'ledger/restored',
  'manifests/prod',
  'owner/name',
  'recreate/create',
  'team/platform',
]);

/** Codes that are composed of the text in the code and a variable, and every value of the variable. */
export const COMPOSED_CODES: Readonly<
  Record<string, Readonly<Record<string, readonly [cause: string, remedy: string]>>>
> = {
  'plan/': {
    'plan/out-of-memory': [
      'Parsing the manifests of a plan request took too much memory.',
      'Send fewer or smaller manifests. The limit is `spec.source.limits.heapMib` of Settings.',
    ],
    'plan/too-slow': [
      'Parsing the manifests of a plan request took too long.',
      'Send fewer or smaller manifests. The limit is `spec.source.limits.timeout` of Settings.',
    ],
    'plan/thread-failed': [
      'Parsing the manifests of a plan request ended its thread because of a bug.',
      'Report it as a bug.',
    ],
  },
  'rule/': {
    'rule/not-as-sent': ['The platform has a new rule that differs from the request whose response was lost.', DOUBT],
  },
  'schema/': Object.fromEntries(
    [
      ['type', 'has another type', 'a value of the expected type'],
      ['enum', 'is not one of the possible values', 'one of the values in the message'],
      ['const', 'is not the only possible value', 'the value in the message'],
      ['pattern', 'does not have the expected form', 'a value of the form in the message'],
      ['format', 'does not have the expected form', 'a value of the form in the message'],
      ['minimum', 'is too small', 'a number of at least the minimum in the message'],
      ['maximum', 'is too large', 'a number of at most the maximum in the message'],
      ['minLength', 'is too short', 'a longer text'],
      ['maxLength', 'is too long', 'a shorter text'],
      ['minItems', 'has too few entries', 'more entries'],
      ['maxItems', 'has too many entries', 'fewer entries'],
      ['minProperties', 'has too few entries', 'more entries'],
      ['maxProperties', 'has too many entries', 'fewer entries'],
      ['anyOf', 'has none of the possible forms', 'a value of a form in the message'],
      ['not', 'has a value that is not allowed', 'another value'],
    ].map(([keyword, fault, write]) => [
      `schema/${keyword}`,
      [`A field ${fault}.`, `Write ${write}; \`portolan explain\` describes the field.`],
    ]),
  ),
  'server/': Object.fromEntries(
    Object.entries(SIGN_IN_PROBLEMS).map(([code, { detail, remedy }]) => [`server/${code}`, [detail, remedy]]),
  ),
  'yaml/': {
    'yaml/anchor': [
      'An anchor of YAML (`&name`) is not allowed.',
      'Write each value where it is used, or use a variable `${NAME}`.',
    ],
    'yaml/alias': [
      'An alias of YAML (`*name`) is not allowed.',
      'Write the value itself. Put a text that starts with `*` in quotes.',
    ],
    'yaml/tag': ['A tag of YAML (`!name`) is not allowed.', 'Delete the tag. Put a value in quotes to make it text.'],
  },
  'source/': {},
  'apply/': {},
  'platform/': {},
  'action/': {
    'action/refused': ['The platform refused the change.', 'Follow the message of the platform.'],
    'action/exists': ['The platform has the object already.', 'Look at it in the console. To manage it, adopt it.'],
    'action/not-sent': ['The request could not be sent.', PASSES],
    'action/not-taken': [
      'The platform accepted the change and did not make it.',
      'Portolan sends it up to three times, then holds it with both values. Look at the object in the console.',
    ],
    'action/throttled': ['The platform answers that there were too many requests.', PASSES],
    'action/stop-scope': [
      'Nothing more was sent for the application, because of the token, the region or the network.',
      'Follow the message: it has the cause.',
    ],
  },
};
