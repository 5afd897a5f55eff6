import type { InstalledComponent } from '../../src/kinds/component/identity.ts';
import type { HttpGatewayRuleSpec } from '../../src/kinds/http-gateway-rule/spec.ts';
import type { LedgerTransaction } from '../../src/ledger/ledger.ts';
import type { Json } from '../../src/model/json.ts';
import type { Intent, OwnedObject } from '../../src/model/owned.ts';
import type { Action } from '../../src/model/plan.ts';
import type { PlatformRequest, PlatformResponse } from '../../src/platform/transport.ts';
import { hashOf } from '../../src/platform/requests.ts';
import { defaultTiming } from '../../src/reconcile/apply/world.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import type { Decision } from '../../src/sandbox/handle.ts';
import type { InstallRow, PortRow, RuleRow, SandboxState } from '../../src/sandbox/state.ts';
import type { Books, BooksListener, Violate } from './books.ts';
import type { Wishes } from './shop.ts';
import { RuleMarks } from './marks.ts';
import { FormerPorts, FormerRules } from './former.ts';
import { nameOf, placeOf } from './places.ts';
import { workFor } from './shop.ts';

/** What became of a request that was sent: only the simulator knows. */
export type Fate = 'in-flight' | 'late' | 'applied' | 'never';

/** One write as it left a controller. */
export interface Sent {
  readonly intent: Intent;
  readonly action: Action;
  readonly request: PlatformRequest;
  readonly controller: number;
  readonly sentMs: number;
  /** Of the object it is for; it changes when the object is renamed. */
  uid: string;
  fate: Fate;
  isAnswered: boolean;
  /** Its sender heard the platform's own yes. */
  isConfirmed: boolean;
  /** The disk was full when its outcome was to be recorded. */
  isOutcomeLost: boolean;
  /** It was refused, or accepted without effect: three of those in a row are a hold. */
  isRefused: boolean;
  /** Rows of somebody else that stood where it was to make its own. */
  readonly rivals: string[];
  /** Rows that it made. */
  readonly rules: string[];
  readonly installs: string[];
}

/** A request that leaves now. */
export function sentNow(intent: Intent, request: PlatformRequest, controller: number, sentMs: number): Sent {
  return {
    intent,
    action: intent.action as unknown as Action,
    request,
    controller,
    sentMs,
    uid: intent.uid,
    fate: 'in-flight',
    isAnswered: false,
    isConfirmed: false,
    isOutcomeLost: false,
    isRefused: false,
    rivals: [],
    rules: [],
    installs: [],
  };
}

/** The controller that sends, as the invariants look at it. */
export interface Sender {
  readonly number: number;
  readonly epoch: number;
  /** What it was told for the pass it is in. */
  readonly wishes: Wishes;
  readonly readOnly: boolean;
  /** Natural keys that were on record when its pass began. */
  readonly onRecord: ReadonlySet<string>;
  nowMs(): number;
}

/** What others did to rules, and whether the server lists them. */
export interface RulesByHand {
  readonly dialect: Dialect;
  readonly byHand: { readonly moved: ReadonlySet<string>; readonly movedUnseen: ReadonlySet<string> };
}

/** Everything that was sent and what came of it, and the invariants about that; evaluated at every request and effect. */
export class Truth implements BooksListener {
  readonly sent: Sent[] = [];
  readonly #byIntent = new Map<string, Sent>();
  readonly #maker = new Map<string, string>();
  readonly #books: Books;
  readonly #state: SandboxState;
  readonly #violate: Violate;
  readonly #rules: RulesByHand;
  /** Ports whose outer access we closed only for a moment, and have not opened again; `<component>/<port>`. */
  readonly owed = new Set<string>();
  /** Ports of which we ever closed outer access for a moment. */
  readonly closedForAMoment = new Set<string>();
  /** Ports that exist because we added them; `<component>/<port>`. */
  readonly made = new Set<string>();
  readonly marks = new RuleMarks();
  readonly former = new FormerPorts();
  readonly formerRules = new FormerRules();
  /** Rules that we deleted to create them again and that do not exist yet: the id of the deleted one, by place. */
  readonly owedRules = new Map<string, string>();
  /** A person allowed adoption at some time. */
  adoptionAllowed = false;

  constructor(books: Books, state: SandboxState, violate: Violate, rules: RulesByHand) {
    this.#rules = rules;
    this.#books = books;
    this.#state = state;
    this.#violate = violate;
    books.tell(this);
  }

  renamed(from: string, to: string): void {
    for (const sent of this.sent) if (sent.uid === from) sent.uid = to;
  }

  of(intentId: string): Sent | undefined {
    return this.#byIntent.get(intentId);
  }

  /** The disk was full for a commit. */
  outcomeLost({ operations }: LedgerTransaction): void {
    for (const operation of operations) {
      const sent = operation.op === 'move-intent' ? this.#byIntent.get(operation.id) : undefined;
      if (sent !== undefined) sent.isOutcomeLost = true;
    }
  }

  /** Who made a rule or install row: the uid of ours, or undefined for anybody else. */
  makerOf(rowKey: string): string | undefined {
    return this.#maker.get(rowKey);
  }

  /**
   * Somebody made just the rule that was to be made, while it was not known whether ours had been: the very same in all
   * that a server shows. Nobody can tell, so the ledger may take it for ours.
   */
  recognised({ operation, uid, action }: Intent, { remoteId }: OwnedObject): void {
    const row = operation === 'createRule' ? this.#state.rules.get(remoteId ?? '') : undefined;
    if (row === undefined) return;
    const { step } = action as unknown as Action;
    const sent = step['rule'] as Partial<Record<string, Json>>;
    const isAsSent = (['weight', 'cookie', 'header', 'certificateId', 'autoSsl'] as const).every(
      (field) => sent[field] === undefined || sent[field] === row[field],
    );
    if (isAsSent && !this.#maker.has(`rule ${row.id}`)) this.#maker.set(`rule ${row.id}`, uid);
  }

  /** A write leaves: everything that must be true before the first byte. */
  sends(request: PlatformRequest, sender: Sender): Sent | undefined {
    if (sender.wishes.adopt) this.adoptionAllowed = true;
    const intent = this.#intentOf(request, sender);
    if (intent === undefined) return undefined;
    const sent = sentNow(intent, request, sender.number, sender.nowMs());
    this.#checkOthers(sent, sender);
    this.#checkOwnership(sent, sender);
    this.sent.push(sent);
    this.#byIntent.set(intent.id, sent);
    if (intent.operation === 'createRule') this.marks.sent(intent.resource, sender.wishes);
    return sent;
  }

  #intentOf(request: PlatformRequest, sender: Sender): Intent | undefined {
    const where = `${request.method} ${request.path}`;
    if (sender.readOnly) this.#violate('I-READONLY', `${where} was sent by a pass that may only read`);
    const hash = hashOf(request);
    const intent = this.#unsentOf(hash, sender);
    if (intent === undefined) {
      this.#violate('I-WAL', `${where} was sent without an open intent of its hash`);
      return undefined;
    }
    if (intent.epoch !== sender.epoch) this.#violate('I-WAL', `${where} was sent on the intent of another process`);
    const waitedMs = sender.nowMs() - (this.#books.openedMs.get(intent.id) ?? 0);
    if (waitedMs >= defaultTiming.sendWithinMs) this.#violate('I-WAL', `${where} was sent after its deadline`);
    return intent;
  }

  /**
   * An intent that its own process has open. Overtaken, that process cannot know, and its request may leave until the
   * deadline: by then the next process may have found the intent and begun its window, but may not have concluded anything.
   */
  #unsentOf(hash: string, { epoch }: Sender): Intent | undefined {
    for (const intent of this.#books.intents.values()) {
      const mayLeave = intent.state === 'open' || (intent.state === 'unknown' && intent.epoch === epoch);
      if (mayLeave && intent.requestHash === hash && !this.#byIntent.has(intent.id)) return intent;
    }
    return undefined;
  }

  #checkOthers(sent: Sent, sender: Sender): void {
    const { intent } = sent;
    for (const other of this.sent) {
      if (other.controller === sent.controller && !other.isAnswered) {
        this.#violate('I-BOUND', `${intent.operation} ${intent.id} was sent while ${other.intent.id} was in flight`);
      }
      const mayStillAct = other.fate === 'late' || other.fate === 'in-flight';
      const what = `${intent.operation} ${intent.id} was sent while ${other.intent.operation} ${other.intent.id} may still act`;
      const sinceMs = sender.nowMs() - other.sentMs;
      if (mayStillAct && sinceMs < defaultTiming.settleTargetStateMs) this.#violate('I-SETTLE', what);
      if (mayStillAct && other.intent.uid === intent.uid) this.#violate('I-ONCE', what);
      if (mayStillAct && isInstall(other) && isInstall(sent)) this.#violate('I-ONCE', what);
      if (intent.operation === 'install' && other.uid === sent.uid && this.#livesOn(other)) {
        this.#violate('I-ONCE', `${intent.id} installs what ${other.intent.id} has installed already`);
      }
    }
  }

  #livesOn(sent: Sent): boolean {
    return sent.installs.some((id) => this.#state.installs.get(id) !== undefined);
  }

  #checkOwnership(sent: Sent, sender: Sender): void {
    const { action, intent } = sent;
    const { step } = action;
    const row = this.#books.objects.get(intent.uid);
    if (step.type === 'recreate' && row?.obligation?.['recreate'] === undefined)
      this.#violate('I-OWN', `${action.summary} without an obligation to create the rule again`);
    if (step.type === 'delete' || step.type === 'update' || step.type === 'restore' || step.type === 'recreate') {
      const ruleId = step['ruleId'] as string;
      const isOurs = this.#maker.has(`rule ${ruleId}`);
      const mayChange = step.type !== 'delete' && this.adoptionAllowed;
      if (!isOurs && !mayChange) this.#violate('I-OWN', `${step.type} of rule ${ruleId}, which somebody else made`);
      if (step.type === 'delete' && (row === undefined || row.origin === 'observed')) {
        this.#violate('I-OWN', `delete of rule ${ruleId}, which the ledger does not own`);
      }
    }
    if (action.prune) this.#checkPrune(sent, sender);
    else if (step.type === 'close_inner' || step.type === 'close_outer') this.#checkClosing(action, sender);
  }

  #checkPrune({ action, intent }: Sent, { wishes, onRecord }: Sender): void {
    const { step } = action;
    if (!wishes.prune) this.#violate('I-PRUNE', `${action.summary}, which nobody allowed`);
    const doubtful = [...this.#books.intents.values()].find(
      (other) => other.id !== intent.id && (other.state === 'unknown' || other.state === 'open'),
    );
    if (doubtful !== undefined) this.#violate('I-PRUNE', `${action.summary} while intent ${doubtful.id} is in doubt`);
    if (step.type === 'delete') {
      if (this.marks.of(action.resource, 'keep') === 'yes')
        this.#violate('I-PRUNE', `${action.summary}, which its manifest said to keep`);
      const { resources } = workFor(wishes);
      const [, , port, ...name] = (step['key'] as string).split('/');
      const wanted = [...resources.values()].some((resource) => {
        const spec = resource.spec as HttpGatewayRuleSpec;
        if (resource.kind !== 'HttpGatewayRule' || String(spec.port) !== port) return false;
        if (nameOf(spec) !== name.join('/')) return false;
        return (step['key'] as string).split('/')[1] === this.serviceOf(spec.component, wishes);
      });
      if (wanted) this.#violate('I-PRUNE', `${action.summary}, which a manifest wants`);
      return;
    }
    const row = this.#books.objects.get(intent.uid);
    const isMade = row?.remoteAux['opened'] !== undefined || row?.origin === 'created';
    // An adopted rule has a row of its own.
    if (step.type === 'restore' && row?.origin === 'adopted') return;
    const component = `component/${step['serviceId'] as string}`;
    if (!onRecord.has(component) && !isMade)
      this.#violate('I-OWN', `${action.summary} of a component that the ledger has no record of`);
  }

  /** Only what a manifest says, or what is opened again. */
  #checkClosing(action: Action, { wishes }: Sender): void {
    const { step } = action;
    if (step['temporary'] === true) {
      if (action.obligation === undefined) this.#violate('I-OWN', `${action.summary} without an obligation to reopen`);
      return;
    }
    const name = action.resource.slice('Component/'.length);
    const port = wishes.components.get(name)?.ports.find((candidate) => candidate.port === step['port']);
    const field = step.type === 'close_inner' ? port?.inner : port?.outer;
    if (field !== false) this.#violate('I-OWN', `${action.summary}, which no manifest says`);
  }

  /** The component that a manifest means, by the ledger where it came with an install: by its own row or the install's. */
  serviceOf(component: string, wishes: Wishes): string | undefined {
    const spec = wishes.components.get(component);
    if (spec?.from === undefined) return spec?.serviceId;
    const from = `${spec.from.install}/${spec.from.component}`;
    let installed: string | undefined;
    for (const object of this.#books.objects.values()) {
      const isFixed = object.resource === `Component/${component}` && object.naturalKey.startsWith('component/');
      if (isFixed && object.remoteAux['from'] === from) return object.remoteId ?? undefined;
      if (object.naturalKey === `install/${spec.from.install}`) installed = componentOf(object, spec.from.component);
    }
    return installed;
  }

  /** A request acted on the platform, or was refused by it. */
  acted(sent: Sent, outcome: Decision): void {
    sent.fate = outcome.effectApplied ? 'applied' : 'never';
    sent.isRefused ||= !outcome.effectApplied && outcome.answer.status >= 400;
    if (sent.isRefused && sent.intent.operation === 'createRule') this.#keepRivals(sent);
    this.#keepOwed(sent, outcome);
    this.#keepOwedRules(sent, outcome);
    this.former.changed(sent.intent.operation, outcome.changes, (id) => this.#state.ports.in('component', id));
    if (sent.intent.operation === 'updateRule')
      this.formerRules.changed(sent.intent.resource, outcome.changes, (id) => this.#maker.has(`rule ${id}`));
    for (const { table, key, before, after } of outcome.changes) {
      if (table !== 'ports') continue;
      if (after === undefined) this.made.delete(key);
      else if (before === undefined && sent.intent.operation === 'addPort') this.made.add(key);
    }
    for (const { table, before, after } of outcome.changes) {
      if (before !== undefined || after === undefined) continue;
      if (table === 'rules' && sent.intent.operation === 'createRule') {
        const { id } = after as RuleRow;
        sent.rules.push(id);
        this.#maker.set(`rule ${id}`, sent.intent.uid);
        this.#checkCopies('rule', sent);
      }
      if (table === 'installs') {
        const id = String((after as InstallRow).id);
        sent.installs.push(id);
        this.#maker.set(`install ${id}`, sent.intent.uid);
        this.#checkCopies('install', sent);
      }
    }
  }

  #keepRivals({ action, rivals }: Sent): void {
    for (const row of this.#state.rules.all()) {
      // Somebody made it, or gave it this key.
      const isByHand = this.makerOf(`rule ${row.id}`) === undefined || this.#rules.byHand.moved.has(row.id);
      if (isByHand && action.object === `rule/${placeOf(row)}`) rivals.push(row.id);
    }
  }

  #keepOwed({ action: { step } }: Sent, { changes }: Decision): void {
    for (const { table, key, after } of changes) {
      if (table !== 'ports') continue;
      if (step.type === 'close_outer' && step['temporary'] === true) {
        this.owed.add(key);
        this.closedForAMoment.add(key);
      } else if (after === undefined || (after as PortRow).outer) this.owed.delete(key);
    }
  }

  #keepOwedRules({ action: { step } }: Sent, { changes }: Decision): void {
    for (const { table, before, after } of changes) {
      if (table !== 'rules') continue;
      if (after !== undefined) this.owedRules.delete(placeOf(after as RuleRow));
      else if (step.type === 'recreate') this.owedRules.set(placeOf(before as RuleRow), (before as RuleRow).id);
    }
  }

  /** I-EFFECT */
  #checkCopies(what: 'rule' | 'install', { uid }: Sent): void {
    const live = this.copiesOf(what, uid).filter((id) => !this.#isUndecidable(id, uid));
    if (live.length > 1) this.#violate('I-EFFECT', `${uid} has ${live.length} live copies: ${live.join(', ')}`);
  }

  /**
   * Somebody gave this rule another key before it was on record. On a server that lists no rules, the request in doubt is sent once more
   * by its protocol, and the server's "exists already", which it counts on, does not come. On another server the key may be that of
   * another manifest, whose object it is from then on.
   */
  #isUndecidable(id: string, uid: string): boolean {
    const { dialect, byHand } = this.#rules;
    if (!byHand.movedUnseen.has(id)) return false;
    return dialect === 'documented' || [...this.#books.objects].some(([of, one]) => of !== uid && one.remoteId === id);
  }

  /** Rows of ours for an object that are there now. */
  copiesOf(what: 'rule' | 'install', uid: string): readonly string[] {
    const made = this.sent.filter((sent) => sent.uid === uid);
    if (what === 'rule')
      return made.flatMap((sent) => sent.rules.filter((id) => this.#state.rules.get(id) !== undefined));
    return made.flatMap((sent) => sent.installs.filter((id) => this.#state.installs.get(id) !== undefined));
  }
}

function isInstall({ intent }: Sent): boolean {
  return intent.operation === 'install' || intent.operation === 'upgrade';
}

/** I-ORDER: the platform refused for the order of things, which a plan must never let happen. */
export function isRefusedForOrder(response: PlatformResponse): boolean {
  if (response.status < 400 || response.status === 401) return false;
  if (response.body.includes('策略已存在')) return false;
  // A port that is there already, a service name that another component has.
  if (response.body.includes('20501') || response.body.includes('20500')) return false;
  return !response.body.includes('10411');
}

function componentOf(install: OwnedObject, name: string): string | undefined {
  const components = (install.remoteAux['components'] ?? []) as readonly InstalledComponent[];
  return components.find(({ serviceKey, k8sComponentName }) => serviceKey === name || k8sComponentName === name)
    ?.serviceId;
}
