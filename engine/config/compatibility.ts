/** DIFFERENCES: the options whose default differs from what the reference engine does, one row each: what a client observes, why the default
 *  differs, the value that is the behaviour of the reference, and whether `--compatibility reference` sets it. Derived from it: the switch
 *  (load-options.ts), a line of the log (main.ts), the advice in refused requests (http/error-response.ts), a table of the documents.
 *  An option that is given wins over the switch. Not here: what the options do. */
import type { EngineError } from '../errors/engine-error.ts';
import type { ErrorName } from '../errors/errors.ts';
import { isSameJson } from '../json/value.ts';
import { nameOf, type OptionFlag, type Options } from './options.ts';

type Refusal = {
  readonly error: ErrorName;
  /** False when another limit or another rule than the option refused the request. */
  readonly isBy?: (params: Readonly<Record<string, unknown>>, options: Options) => boolean;
};

export type ReferenceDifference = {
  readonly option: OptionFlag;
  /** The value that is the behaviour of the reference. */
  readonly value: unknown;
  /** True when the switch sets the value. */
  readonly isInSwitch: boolean;
  /** The effect of the default that a client of the reference observes. */
  readonly what: string;
  readonly why: string;
  readonly refusals?: readonly Refusal[];
};

const MIB = 1024 * 1024;

export const DIFFERENCES: readonly ReferenceDifference[] = [
  {
    option: 'header-prefix',
    value: 'x-hasura-',
    isInSwitch: false,
    what: 'headers and session variables are named X-Engine-*',
    why: 'it is the name of the product; set it together with the switch',
  },
  {
    option: 'allow-simple-requests',
    value: true,
    isInSwitch: true,
    what: 'a POST request without credentials in headers needs the content type application/json',
    why: 'a page of any site could otherwise write with the cookies or the address of its visitor',
    refusals: [{ error: 'preflightMissing' }],
  },
  {
    option: 'allowed-hosts',
    value: '*',
    isInSwitch: true,
    what: 'without an admin secret, requests to other host names than localhost are refused',
    why: 'a page could otherwise reach an open engine by a name of its own',
    refusals: [{ error: 'hostNotAllowed' }],
  },
  {
    option: 'cors-any-origin-credentials',
    value: true,
    isInSwitch: true,
    what: 'with --cors-domain *, cookies of pages of other origins do not count',
    why: 'a page of any site could otherwise read what its visitor may read',
  },
  {
    option: 'unauthorized-session-variables',
    value: true,
    isInSwitch: true,
    what: 'a request without credentials has no session variables from its headers',
    why: 'a client could otherwise choose the values that permissions compare with',
  },
  {
    option: 'enable-remote-schema-permissions',
    value: false,
    isInSwitch: true,
    what: 'a role has access to a remote schema only with a permission; with the switch, declared permissions are kept and reported as NotEnforced',
    why: 'a role has access to nothing that no permission names',
  },
  {
    option: 'count-without-aggregations',
    value: true,
    isInSwitch: true,
    what: 'count of /v1/query needs allow_aggregations',
    why: 'it reveals as much as an aggregate',
    refusals: [
      { error: 'rootReadNotPermitted', isBy: ({ way, isHidden }) => way === 'select_aggregate' && !isHidden },
    ],
  },
  {
    option: 'default-time-limit',
    value: 0,
    isInSwitch: true,
    what: 'a statement of a role is cancelled after 60 seconds',
    why: 'one request could otherwise hold a connection for ever',
    refusals: [
      { error: 'timeLimitExceeded', isBy: ({ most }, options) => most === options.defaultTimeLimit },
    ],
  },
  {
    option: 'max-role-body-length',
    value: 512 * MIB,
    isInSwitch: true,
    what: 'a body or a WebSocket message of a role has at most 4 MiB',
    why: 'bodies of clients that are not trusted would otherwise fill the memory',
    refusals: [
      { error: 'bodyTooLarge', isBy: ({ mostBytes }, options) => mostBytes === options.maxRoleBodyLength },
    ],
  },
  {
    option: 'max-role-response-length',
    value: 1024 * MIB,
    isInSwitch: true,
    what: 'a response to a role has at most 32 MiB',
    why: 'a role could otherwise read whole tables into the memory',
    refusals: [
      { error: 'responseTooLarge', isBy: ({ most }, options) => most === options.maxRoleResponseLength },
    ],
  },
  {
    option: 'traces-propagators',
    value: ['b3'],
    isInSwitch: true,
    what: 'requests to webhooks have the header traceparent, and not those of B3',
    why: 'W3C Trace Context is the standard',
  },
  {
    option: 'max-request-fields',
    value: 1_000_000,
    isInSwitch: false,
    what: 'a request selects at most 20,000 fields',
    why: 'it protects the engine itself; no request of a known client has as many',
  },
  {
    option: 'max-request-inputs',
    value: 10_000_000,
    isInSwitch: false,
    what: 'a request of a role has at most 200,000 input values',
    why: 'it protects the engine itself; no request of a known client has as many',
  },
  {
    option: 'max-batch-operations',
    value: 1_000_000,
    isInSwitch: false,
    what: 'a body has at most 1,000 requests',
    why: 'it protects the engine itself; no client is known to send as many',
  },
];

/** Returns the value that the switch gives an option; undefined when it gives none. */
export function referenceValue(option: OptionFlag): unknown {
  return DIFFERENCES.find((row) => row.option === option && row.isInSwitch)?.value;
}

/** Returns how each option that is not as in the reference is set to be so: `--default-time-limit 0, or --compatibility reference`. */
export function remedyOf({ option, value, isInSwitch }: ReferenceDifference): string {
  const written = value === true ? '' : ` ${String(value)}`;
  return `--${option}${written}${isInSwitch ? ', or --compatibility reference' : ''}`;
}

/** Returns a sentence for each option with which the engine differs from the reference. */
export function differencesIn(options: Options): readonly string[] {
  const different = DIFFERENCES.filter(({ option, value }) => !isSameJson(options[nameOf(option)], value));
  return different.map((row) => `${row.what} (${remedyOf(row)})`);
}

/** Returns the option that lifts the refusal, for the message of the error; undefined when no option does. */
export function adviceOn(error: EngineError, options: Options): string | undefined {
  const isCause = ({ error: kind, isBy = () => true }: Refusal) =>
    kind === error.kind && isBy(error.params as Readonly<Record<string, unknown>>, options);
  const row = DIFFERENCES.find(({ refusals = [] }) => refusals.some(isCause));
  return row && remedyOf(row);
}
