/** Limits for one client or for all clients together. Times are in milliseconds. */
export const defaultLimits = {
  /** Time within which the headers of a request must arrive. */
  headersMs: 5_000,
  /** Time within which the whole request must arrive. */
  requestMs: 30_000,
  /** Interval at which the two limits above are checked. */
  checkMs: 1_000,
  /** A socket that is idle for longer is closed. */
  idleSocketMs: 60_000,
  /** Time for which a socket is kept for the next request. */
  keepAliveMs: 5_000,
  headerBytes: 16 * 1024,
  connections: 1_024,
  /** Body of a request to a route that sets no limit of its own. */
  bodyBytes: 16 * 1024,
  planBodyBytes: 8 * 1024 * 1024,
  webhookBodyBytes: 1024 * 1024,
  /** Plans that run at the same time; each reads from the platform. */
  plans: 3,
  /** Requests for plans that wait for their turn, each with a body of up to `planBodyBytes` in memory. */
  plansWaiting: 5,
  /** The same two limits for one token. */
  plansOfCaller: 2,
  plansWaitingOfCaller: 3,
  /** From the request to the answer, waiting included. */
  planMs: 120_000,
  /** Share of the event loop, 0 to 1, that answers to reads may take in the long run. */
  readShare: 0.25,
  /** Time of the event loop that answers may take before the share applies. */
  readBurstMs: 50,
  /** Time that the event loop spends on one answer before it does other work. */
  pieceMs: 5,
  /** Pieces of answers that may wait for their turn. */
  readsWaiting: 256,
  /** Scrapes of the metrics within this time get the same text. */
  metricsReuseMs: 1_000,
  /** Memory of all answers that their clients have not received yet. */
  unsentBytes: 64 * 1024 * 1024,
  /** Interval between two heartbeats on an event stream. */
  heartbeatMs: 15_000,
  /** A stream whose client receives nothing for longer is closed. */
  slowReaderMs: 20_000,
  /** Deliveries whose body is still arriving; each may use `webhookBodyBytes` of memory. */
  webhooksUnread: 32,
  /** Signed deliveries to one webhook, and forged deliveries to all webhooks: a burst, and a rate per second. */
  webhookBurst: 60,
  webhookPerSecond: 5,
  /** Sign-ins of one address, and of all addresses, that may fail at once and per minute. */
  signInsOfAddress: 10,
  signInsOfAddressPerMinute: 10,
  signIns: 200,
  signInsPerMinute: 200,
  /** Time from the start of a sign-in with OpenID Connect to the answer of the provider. */
  signInMs: 600_000,
  /** Webhooks cause at most one read of the source in this time. No delivery is lost. */
  pokeMs: 1_000,
  /** Time for requests to end when the server closes. */
  closeMs: 3_000,
};

export type ServerLimits = Readonly<typeof defaultLimits>;
