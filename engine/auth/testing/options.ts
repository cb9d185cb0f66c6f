/** Authentication options with nothing set, for tests to extend. */
import type { AuthOptions } from '../authenticate.ts';

export const OPEN: AuthOptions = {
  adminSecret: undefined,
  adminSecrets: undefined,
  adminSecretPath: undefined,
  consoleSecret: undefined,
  consoleSecretPath: undefined,
  unauthorizedRole: undefined,
  unauthorizedSessionVariables: false,
  headerPrefix: 'x-engine-',
  jwtSecret: undefined,
  jwtSecrets: undefined,
  authHook: undefined,
  authHookMode: 'GET',
  authHookSendRequestBody: true,
  authHookTimeout: 30,
};
