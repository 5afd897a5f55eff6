import { parentPort, workerData } from 'node:worker_threads';

/** A thread that says what it was given of its process. */
parentPort?.postMessage({ env: { ...process.env }, argv: process.argv.slice(2), data: workerData as unknown });
