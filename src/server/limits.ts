/** What one client, or all together, may take of the daemon. Times in milliseconds. */
export interface ServerLimits {
  /** Until the headers of a request are there. */
  readonly headersMs: number;
  /** Until a request is there as a whole. */
  readonly requestMs: number;
  /** How often the two above are looked at. */
  readonly checkMs: number;
  /** A socket on which nothing moved for so long is closed. */
  readonly idleSocketMs: number;
  /** How long a socket is kept for the next request. */
  readonly keepAliveMs: number;
  readonly headerBytes: number;
  readonly connections: number;
  /** Of a request that says nothing of its own. */
  readonly bodyBytes: number;
  readonly planBodyBytes: number;
  readonly webhookBodyBytes: number;
  /** Plans made at once; each reads from the platform. */
  readonly plans: number;
  /** Requests for plans that wait for their turn, each with a body of up to `planBodyBytes` in memory. */
  readonly plansWaiting: number;
  /** The same of one token. */
  readonly plansOfCaller: number;
  readonly plansWaitingOfCaller: number;
  /** From the request to the answer, waiting included. */
  readonly planMs: number;
  /** Share of the event loop, 0 to 1, that answers to reads may take in the long run. */
  readonly readShare: number;
  /** Time of the event loop that answers may take at once, before the share counts. */
  readonly readBurstMs: number;
  /** So long the event loop makes one answer before it does something else. */
  readonly pieceMs: number;
  /** Parts of answers that wait for their turn. */
  readonly readsWaiting: number;
  /** Scrapes of the metrics within so long get the same text. */
  readonly metricsReuseMs: number;
  /** Of answers that their readers have not taken yet, all together. */
  readonly unsentBytes: number;
  /** Between two signs of life on an event stream. */
  readonly heartbeatMs: number;
  /** A reader of a stream who takes nothing for so long is cut off. */
  readonly slowReaderMs: number;
  /** Deliveries whose body is on its way, of which each may take `webhookBodyBytes` of memory. */
  readonly webhooksUnread: number;
  /** Genuine deliveries to one webhook, and forged ones to all: so many at once, and so many a second in the long run. */
  readonly webhookBurst: number;
  readonly webhookPerSecond: number;
  /** The source is looked at no more often for webhooks; none is lost. */
  readonly pokeMs: number;
  /** What is under way when the server closes is given so long. */
  readonly closeMs: number;
}

export const defaultLimits: ServerLimits = {
  headersMs: 5_000,
  requestMs: 30_000,
  checkMs: 1_000,
  idleSocketMs: 60_000,
  keepAliveMs: 5_000,
  headerBytes: 16 * 1024,
  connections: 1_024,
  bodyBytes: 16 * 1024,
  planBodyBytes: 8 * 1024 * 1024,
  webhookBodyBytes: 1024 * 1024,
  plans: 3,
  plansWaiting: 5,
  plansOfCaller: 2,
  plansWaitingOfCaller: 3,
  planMs: 120_000,
  readShare: 0.25,
  readBurstMs: 50,
  pieceMs: 5,
  readsWaiting: 256,
  metricsReuseMs: 1_000,
  unsentBytes: 64 * 1024 * 1024,
  heartbeatMs: 15_000,
  slowReaderMs: 20_000,
  webhooksUnread: 32,
  webhookBurst: 60,
  webhookPerSecond: 5,
  pokeMs: 1_000,
  closeMs: 3_000,
};
