/** Finds the credentials of a registry in the configuration of a Docker client, which a Secret of type kubernetes.io/dockerconfigjson has.
 *  In: its text, the host and the repository. Out: user and password. Raises ArtifactProblem without any part of the text.
 *  Pure. Not here: reading the Secret (artifact-request.ts), sending the credentials (registry.ts). */
import { isRecord, own } from '@pergola/engine/metadata';
import { ArtifactProblem } from './artifact-problem.ts';

export type Credentials = { readonly username: string; readonly password: string };

/** The key of a dockerconfigjson Secret, as Kubernetes defines it. */
export const DOCKER_CONFIG_KEY = '.dockerconfigjson';

/** The names under which Docker stores the credentials of Docker Hub. */
const DOCKER_HUB = ['docker.io', 'index.docker.io', 'registry-1.docker.io'];

/** Returns the credentials with the longest path that contains the repository; undefined when the configuration has none for the host. */
export function credentialsFor(
  config: string,
  { host, name }: { readonly host: string; readonly name: string },
): Credentials | undefined {
  const auths = authsIn(config);
  const hosts = DOCKER_HUB.includes(host) ? DOCKER_HUB : [host];
  const scopes = name.split('/').map((_, i, all) => all.slice(0, i + 1).join('/'));
  const wanted = ['', ...scopes].toReversed();
  for (const scope of wanted) {
    const found = auths.find(([key]) => {
      const [keyHost, keyScope] = scopeOf(key);
      return hosts.includes(keyHost) && keyScope === scope;
    });
    const credentials = found && credentialsIn(found[1]);
    if (credentials) return credentials;
  }
  return undefined;
}

function authsIn(config: string): readonly (readonly [string, Readonly<Record<string, unknown>>])[] {
  const auths = own(parsed(config), 'auths');
  // A client that keeps credentials elsewhere has none here.
  if (auths === undefined) return [];
  if (!isRecord(auths)) throw new ArtifactProblem(`the key ${DOCKER_CONFIG_KEY} has no field auths`);
  return Object.entries(auths).flatMap(([key, entry]) => (isRecord(entry) ? [[key, entry] as const] : []));
}

function parsed(config: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(config);
    if (isRecord(value)) return value;
  } catch {
    // The message of the parser contains text of the Secret.
  }
  throw new ArtifactProblem(`the key ${DOCKER_CONFIG_KEY} is not a JSON object`);
}

/** Returns the host and the path of a key: `ghcr.io`, `https://index.docker.io/v1/`, `registry.example.com/team-a`. */
function scopeOf(key: string): readonly [string, string] {
  const [host = '', ...path] = key
    .replace(/^https?:\/\//, '')
    .replace(/\/+$/, '')
    .split('/');
  const isVersion = path.length === 1 && /^v[12]$/.test(path[0]!);
  return [host.toLowerCase(), isVersion ? '' : path.join('/')];
}

function credentialsIn(entry: Readonly<Record<string, unknown>>): Credentials | undefined {
  const { username, password, auth } = entry;
  if (typeof username === 'string' && typeof password === 'string') return { username, password };
  if (typeof auth !== 'string' || auth === '') {
    if (typeof entry['identitytoken'] === 'string' || typeof entry['registrytoken'] === 'string') {
      throw new ArtifactProblem(
        'the Secret has a token instead of a user and a password, which is not supported',
      );
    }
    return undefined;
  }
  const [, user, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(auth, 'base64').toString('utf8')) ?? [];
  return user === undefined || secret === undefined ? undefined : { username: user, password: secret };
}
