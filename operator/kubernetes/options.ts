/** The options of `pergola operator`: one table for flags, environment variables and help. A flag overrides its variable.
 *  Out: the options, or an OptionProblem. Not here: their effects. */
import { hostname } from 'node:os';
import { parseArgs } from 'node:util';

type OptionRow = {
  readonly variable: string;
  readonly value: 'TEXT' | 'NUMBER' | 'BOOLEAN' | 'LIST';
  readonly default: string;
  readonly doc: string;
};

/** The options in the order of the help text. */
export const OPTIONS = {
  'watch-namespaces': {
    variable: 'PERGOLA_WATCH_NAMESPACES',
    value: 'LIST',
    default: '',
    doc: 'namespaces to watch, separated by commas; empty means all',
  },
  'cluster-name': {
    variable: 'PERGOLA_CLUSTER_NAME',
    value: 'TEXT',
    default: '',
    doc: 'the name of this cluster in engines that several clusters share; empty means the one that the lease keeps, at first the uid of kube-system',
  },
  'health-host': {
    variable: 'PERGOLA_HEALTH_HOST',
    value: 'TEXT',
    default: '*',
    doc: 'address of /livez, /readyz and /metrics; * is all addresses, of IPv4 and IPv6',
  },
  'health-port': {
    variable: 'PERGOLA_HEALTH_PORT',
    value: 'NUMBER',
    default: '8081',
    doc: 'port of /livez, /readyz and /metrics',
  },
  'leader-elect': {
    variable: 'PERGOLA_LEADER_ELECT',
    value: 'BOOLEAN',
    default: 'true',
    doc: 'reconcile only while holding the lease; false only with a single replica',
  },
  'lease-name': {
    variable: 'PERGOLA_LEASE_NAME',
    value: 'TEXT',
    default: 'pergola-operator',
    doc: 'name of the lease that replicas share',
  },
  'lease-namespace': {
    variable: 'POD_NAMESPACE',
    value: 'TEXT',
    default: 'default',
    doc: 'namespace of the lease',
  },
  identity: {
    variable: 'POD_NAME',
    value: 'TEXT',
    default: '',
    doc: 'the holder of the lease; empty means host name and process id',
  },
  'progress-deadline-seconds': {
    variable: 'PERGOLA_PROGRESS_DEADLINE_SECONDS',
    value: 'NUMBER',
    default: '300',
    doc: 'time after which a waiting resource is Stalled',
  },
  'unreachable-grace-seconds': {
    variable: 'PERGOLA_UNREACHABLE_GRACE_SECONDS',
    value: 'NUMBER',
    default: '60',
    doc: 'time before resources report that their engine does not answer; the Engine reports it at once',
  },
  'unreachable-writes-per-second': {
    variable: 'PERGOLA_UNREACHABLE_WRITES_PER_SECOND',
    value: 'NUMBER',
    default: '20',
    doc: 'most statuses per second that report an engine that does not answer, and as many that it answers again',
  },
  'prune-delay-seconds': {
    variable: 'PERGOLA_PRUNE_DELAY_SECONDS',
    value: 'NUMBER',
    default: '30',
    doc: 'time after the start in which nothing is deleted',
  },
  'values-key-secret': {
    variable: 'PERGOLA_VALUES_KEY_SECRET',
    value: 'TEXT',
    default: '',
    doc: 'the Secret, in the namespace of the lease, that is created with a key for named values if it is missing; empty means none',
  },
  'engine-hosts': {
    variable: 'PERGOLA_ENGINE_HOSTS',
    value: 'LIST',
    default: '*',
    doc:
      'hosts of Engine resources that the operator may request, without the port, separated by commas: *.svc,api.example.com; ' +
      'one on this machine must be named in full',
  },
  registries: {
    variable: 'PERGOLA_REGISTRIES',
    value: 'LIST',
    default: '*',
    doc:
      'hosts of OCI registries that the operator may request, with the port if there is one, separated by commas: ghcr.io,*.example.com; ' +
      'one on this machine must be named in full',
  },
  'log-level': {
    variable: 'PERGOLA_LOG_LEVEL',
    value: 'TEXT',
    default: 'info',
    doc: 'debug, info, warn, error or silent',
  },
} as const satisfies Record<string, OptionRow>;

export type OperatorOptions = {
  readonly watchNamespaces: readonly string[];
  readonly clusterName: string;
  readonly healthHost: string;
  readonly healthPort: number;
  readonly leaderElect: boolean;
  readonly leaseName: string;
  readonly leaseNamespace: string;
  readonly identity: string;
  readonly progressDeadlineSeconds: number;
  readonly pruneDelaySeconds: number;
  readonly unreachableGraceSeconds: number;
  readonly unreachableWritesPerSecond: number;
  readonly valuesKeySecret: string;
  /** The patterns of the hosts that Engine resources may name. */
  readonly engineHosts: readonly string[];
  /** The patterns of the hosts from which artifacts may be downloaded. */
  readonly registries: readonly string[];
  readonly logLevel: string;
};

export class OptionProblem extends Error {}

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

/** Returns the options; undefined when `--help` is given. */
export function loadOptions(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): OperatorOptions | undefined {
  const flags = parsed(argv);
  if (flags['help'] === true) return undefined;
  const text = (name: keyof typeof OPTIONS): string => {
    const row = OPTIONS[name];
    return String(flags[name] ?? (env[row.variable] || row.default)).trim();
  };
  const level = text('log-level');
  if (!LEVELS.includes(level)) throw new OptionProblem(`--log-level is ${LEVELS.join(', ')}, not ${level}`);
  return {
    watchNamespaces: listIn(text('watch-namespaces')),
    clusterName: text('cluster-name'),
    healthHost: text('health-host'),
    healthPort: numberIn('health-port', text('health-port')),
    leaderElect: truthIn('leader-elect', text('leader-elect')),
    leaseName: text('lease-name'),
    leaseNamespace: text('lease-namespace'),
    identity: text('identity') || `${hostname()}_${process.pid}`,
    progressDeadlineSeconds: numberIn('progress-deadline-seconds', text('progress-deadline-seconds')),
    pruneDelaySeconds: numberIn('prune-delay-seconds', text('prune-delay-seconds')),
    unreachableGraceSeconds: numberIn('unreachable-grace-seconds', text('unreachable-grace-seconds')),
    unreachableWritesPerSecond: numberIn(
      'unreachable-writes-per-second',
      text('unreachable-writes-per-second'),
    ),
    valuesKeySecret: text('values-key-secret'),
    engineHosts: listIn(text('engine-hosts')),
    registries: listIn(text('registries')),
    logLevel: level,
  };
}

export function help(): string {
  const lines = Object.entries(OPTIONS).map(([name, { variable, value, default: preset, doc }]) => {
    const shown = preset === '' ? '' : ` [${preset}]`;
    return `  ${`--${name} ${value}`.padEnd(36)} ${doc}${shown}\n  ${' '.repeat(36)} ${variable}`;
  });
  const command = `  ${'migrate-storage'.padEnd(36)} a command: stores all resources in the current version`;
  const head =
    'pergola operator: reconciles engines with the custom resources of the cluster of KUBECONFIG or of this pod';
  return `${head}\n\n${[...lines, command].join('\n')}\n`;
}

function parsed(argv: readonly string[]): Readonly<Record<string, string | boolean | undefined>> {
  const rows = Object.keys(OPTIONS).map((name) => [name, { type: 'string' as const }]);
  const options = { ...Object.fromEntries(rows), help: { type: 'boolean' as const, short: 'h' } };
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: false })
      .values as ReturnType<typeof parsed>;
  } catch (error) {
    throw new OptionProblem((error as Error).message);
  }
}

function listIn(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
}

function numberIn(name: string, text: string): number {
  const number = Number(text);
  if (text !== '' && Number.isInteger(number) && number >= 0) return number;
  throw new OptionProblem(`--${name} is a whole number, not ${text}`);
}

function truthIn(name: string, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new OptionProblem(`--${name} is true or false, not ${text}`);
}
