/** What one client, or all together, may take of the daemon. Times in milliseconds. */
export const defaultLimits = {
  /** Until the headers of a request are there. */
  headersMs: 5_000,
  /** Until a request is there as a whole. */
  requestMs: 30_000,
  /** How often the two above are looked at. */
  checkMs: 1_000,
  /** A socket on which nothing moved for so long is closed. */
  idleSocketMs: 60_000,
  /** How long a socket is kept for the next request. */
  keepAliveMs: 5_000,
  headerBytes: 16 * 1024,
  connections: 1_024,
  /** Of a request that says nothing of its own. */
  bodyBytes: 16 * 1024,
  planBodyBytes: 8 * 1024 * 1024,
  webhookBodyBytes: 1024 * 1024,
  /** Plans made at once; each reads from the platform. */
  plans: 3,
  /** Requests for plans that wait for their turn, each with a body of up to `planBodyBytes` in memory. */
  plansWaiting: 5,
  /** The same of one token. */
  plansOfCaller: 2,
  plansWaitingOfCaller: 3,
  /** From the request to the answer, waiting included. */
  planMs: 120_000,
  /** Share of the event loop, 0 to 1, that answers to reads may take in the long run. */
  readShare: 0.25,
  /** Time of the event loop that answers may take at once, before the share counts. */
  readBurstMs: 50,
  /** So long the event loop makes one answer before it does something else. */
  pieceMs: 5,
  /** Parts of answers that wait for their turn. */
  readsWaiting: 256,
  /** Scrapes of the metrics within so long get the same text. */
  metricsReuseMs: 1_000,
  /** Of answers that their readers have not taken yet, all together. */
  unsentBytes: 64 * 1024 * 1024,
  /** Between two signs of life on an event stream. */
  heartbeatMs: 15_000,
  /** A reader of a stream who takes nothing for so long is cut off. */
  slowReaderMs: 20_000,
  /** Deliveries whose body is on its way, of which each may take `webhookBodyBytes` of memory. */
  webhooksUnread: 32,
  /** Genuine deliveries to one webhook, and forged ones to all: so many at once, and so many a second in the long run. */
  webhookBurst: 60,
  webhookPerSecond: 5,
  /** The source is looked at no more often for webhooks; none is lost. */
  pokeMs: 1_000,
  /** What is under way when the server closes is given so long. */
  closeMs: 3_000,
};

export type ServerLimits = Readonly<typeof defaultLimits>;
