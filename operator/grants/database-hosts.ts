/** The hosts and files that the connections of a source name. The author of the source chooses both, so a grant must cover them.
 *  In: the definition of a source. Out: hosts in lower case, `*` for a text that may name any host, and paths of files. Pure.
 *  Not here: variables, named values and files that hold a whole connection string (needs.ts). */
import { isRecord } from '@pergola/engine/metadata';

export type NamedBySource = { readonly hosts: readonly string[]; readonly files: readonly string[] };

/** The text that only the pattern `*` covers. */
const ANY = '*';
const NOTHING: NamedBySource = { hosts: [], files: [] };

/** The keywords of libpq for files of TLS and of credentials. */
const FILES: ReadonlySet<string> = new Set([
  ...['sslrootcert', 'sslcert', 'sslkey', 'sslcrl'],
  ...['passfile', 'servicefile', 'service'],
]);

export function reachedBySource(definition: unknown): NamedBySource {
  const { configuration } = isRecord(definition) ? definition : {};
  if (!isRecord(configuration)) return NOTHING;
  const { connection_info: primary, read_replicas: replicas, connection_set: members } = configuration;
  const connections = [
    primary,
    ...(Array.isArray(replicas) ? replicas : []),
    ...(Array.isArray(members)
      ? members.map((member) => (isRecord(member) ? member['connection_info'] : null))
      : []),
  ];
  const all = connections.map((one) => (isRecord(one) ? reachedBy(one['database_url']) : NOTHING));
  return { hosts: all.flatMap(({ hosts }) => hosts), files: all.flatMap(({ files }) => files) };
}

function reachedBy(url: unknown): NamedBySource {
  if (typeof url === 'string') return reachedByText(url.trim());
  if (!isRecord(url)) return NOTHING;
  // The author of the Secret chooses the whole text.
  if ('from_value' in url) return { hosts: [ANY], files: [] };
  const { connection_parameters: parameters, dynamic_from_file: file } = url;
  if (typeof file === 'string') return { hosts: [], files: [file] };
  if (!isRecord(parameters)) return NOTHING;
  return { hosts: [hostText(String(parameters['host'] ?? ANY))], files: [] };
}

/** Reads a URL as the engine does (engine/database/connection-string.ts). A text in another form may name any host. */
function reachedByText(text: string): NamedBySource {
  const [, rest] = /^postgres(?:ql)?:\/\/(.*)$/is.exec(text) ?? [];
  if (rest === undefined) return { hosts: [ANY], files: filesIn(pairsIn(text)) };
  const question = rest.indexOf('?');
  const address = question < 0 ? rest : rest.slice(0, question);
  const pairs =
    question < 0
      ? []
      : rest
          .slice(question + 1)
          .split('&')
          .map(pairOf);
  const authority = address.split('/', 1)[0]!;
  const hosts = authority
    .slice(authority.lastIndexOf('@') + 1)
    .split(',')
    .map(hostOf);
  const isElsewhere = pairs.some(([name]) => name === 'host' || name === 'hostaddr');
  return { hosts: isElsewhere ? [ANY] : hosts, files: filesIn(pairs) };
}

type Pair = readonly [name: string, value: string];

function pairOf(text: string): Pair {
  const equals = text.indexOf('=');
  return equals < 0 ? [decoded(text), ''] : [decoded(text.slice(0, equals)), decoded(text.slice(equals + 1))];
}

/** Returns the pairs of a `keyword=value` string. */
function pairsIn(text: string): readonly Pair[] {
  return [...text.matchAll(/([a-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|(\S*))/g)].map(
    ([, name = '', quoted, plain]): Pair => [name, (quoted ?? plain ?? '').replaceAll(/\\(.)/g, '$1')],
  );
}

function filesIn(pairs: readonly Pair[]): readonly string[] {
  return pairs
    .filter(([name, value]) => FILES.has(name) && value !== '' && value !== 'system')
    .map(([, value]) => value);
}

/** Returns the host of `host[:port]`. Without one, libpq connects to this machine. */
function hostOf(text: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))/.exec(text) ?? [];
  return hostText(decoded(bracketed ?? plain) || 'localhost');
}

function hostText(host: string): string {
  return host.startsWith('/') ? host : host.toLowerCase().replace(/\.$/, '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return ANY;
  }
}
