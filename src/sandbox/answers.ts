import type { Answer } from './wire.ts';

// The shapes of an answer, by the letters of the page that describes how a real server behaves. The traces that the
// real server leaks in E and H are a fixed text here: there is nothing behind them.

/** A: a bare record or list. */
export function bare(body: unknown, status = 200): Answer {
  return { status, body };
}

/** B: the success envelope. */
export function enveloped(shown: string, data: { bean?: object; list?: readonly object[] }): Answer {
  const { bean = {}, list = [] } = data;
  return { status: 200, body: { code: 200, msg: 'success', msg_show: shown, data: { bean, list } } };
}

/** C: refused by the business logic. `code` often is not the status. */
export function refused(status: number, message: string, shown: string, code = status): Answer {
  return { status, body: { code, msg: message, msg_show: shown, data: { bean: {}, list: [] } } };
}

/** The faults of one body, by field. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** D: the body is not valid. */
export function invalidBody(err: FieldErrors): Answer {
  return { status: 400, body: { detail: '参数错误', err, code: 20400, error_type: 'ValidationError' } };
}

/** E: refused by the framework. */
export function frameworkError(status: number, detail: string, errorType: string): Answer {
  return { status, body: { detail, code: status, msg: detail, msg_show: detail, error_type: errorType } };
}

const NOT_FOUND_PAGE = `
<!doctype html>
<html lang="en">
<head>
  <title>Not Found</title>
</head>
<body>
  <h1>Not Found</h1><p>The requested resource was not found on this server.</p>
</body>
</html>
`;

/** A path that no pattern of the server has: a page, without any check of the token. */
export const pageNotFound: Answer = {
  status: 404,
  body: NOT_FOUND_PAGE,
  contentType: 'text/html; charset=utf8',
};

/** F: rules only. */
export function plainRefusal(message: string): Answer {
  return { status: 400, body: { msg: message } };
}

/** G: the cluster behind the server failed. `msg` may be an object. */
export function clusterFailed(): Answer {
  return {
    status: 400,
    body: {
      code: 10411,
      msg: { status: 'failed', error: 'connection to the cluster refused' },
      msg_show: '数据中心操作故障，请稍后重试',
    },
  };
}

/** G: the metrics system behind the server did not take the expression or the range. */
export function metricsFailed(): Answer {
  return {
    status: 400,
    body: {
      code: 400,
      msg: { status: 'error', errorType: 'bad_data', error: 'invalid parameter' },
      msg_show: '数据中心操作故障，请稍后重试',
    },
  };
}

/** C with a bean and a message that may be text of another server, or null. */
export function refusedWith(
  status: number,
  said: { readonly message: string | null; readonly shown: string; readonly code: number; readonly bean: object },
): Answer {
  const { message, shown, code, bean } = said;
  return { status, body: { code, msg: message, msg_show: shown, data: { bean, list: [] } } };
}

/** H: a bug of the real server, kept. */
export function crashed(message: string, errorType: string): Answer {
  return { status: 500, body: { code: 10401, msg: message, msg_show: '<stack trace>', error_type: errorType } };
}
