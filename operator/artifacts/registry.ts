/** Requests to one registry, by the distribution specification: manifests and blobs, over HTTPS, with a token or Basic credentials.
 *  The credentials are sent to the registry and to its token service, and never follow a redirect. Redirects are followed to HTTPS only, and
 *  without TLS within the registry.
 *  Every answer is bounded, and addresses are checked when a connection is opened (@pergola/engine/addresses). Raises ArtifactProblem.
 *  Source: OCI Distribution Specification 1.1, "Pull". Not here: what manifests mean (manifest.ts), the order of requests (download.ts). */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { AddressRefused, type AllowsLoopback } from '@pergola/engine/addresses';
import { guardedAgentFor, type HttpAgent, sendRequest } from '../outgoing/http-request.ts';
import { ArtifactProblem } from './artifact-problem.ts';
import {
  basicAuthorization,
  bearerAuthorization,
  isReachedSafely,
  isSameDomain,
  parseChallenge,
  tokenUrl,
} from './challenge.ts';
import type { Credentials } from './credentials.ts';
import { LIMITS } from './limits.ts';
import { ACCEPTED_MANIFESTS, type Descriptor } from './manifest.ts';
import { digestOf, isDigest } from './reference.ts';

export type RegistryOptions = {
  /** The host with its port, if it has one. */
  readonly host: string;
  /** The name of the repository. */
  readonly name: string;
  /** True for a registry without TLS. */
  readonly plainHttp: boolean;
  /** The certificates of its authority, in PEM. Undefined: those of the runtime. */
  readonly ca: string | undefined;
  /** The hosts that may be on this machine. */
  readonly allowsLoopback: AllowsLoopback;
  /** Returns the credentials for a host; undefined for none. */
  readonly credentialsFor: (host: string) => Credentials | undefined;
  readonly signal: AbortSignal;
};

export type ReceivedManifest = {
  readonly bytes: Buffer;
  readonly digest: string;
  readonly contentType: string | undefined;
};

type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
};
type Request = {
  readonly method: 'GET' | 'HEAD';
  readonly accept: string;
  readonly mostBytes: number;
  readonly what: string;
};

/** The host at which Docker Hub has its registry. */
const HOSTS_OF_NAMES: ReadonlyMap<string, string> = new Map([['docker.io', 'registry-1.docker.io']]);
/** The longest delay that a registry may ask for. */
const MOST_RETRY_MS = 3_600_000;
const TIMEOUT_MS = 15_000;

export class RegistryClient {
  readonly #options: RegistryOptions;
  readonly #base: URL;
  /** The agents by protocol. A redirect leads from http to https. */
  readonly #agents = new Map<string, HttpAgent>();
  #authorization: string | undefined;

  constructor(options: RegistryOptions) {
    const { host, name, plainHttp } = options;
    this.#options = options;
    this.#base = new URL(`${plainHttp ? 'http' : 'https'}://${HOSTS_OF_NAMES.get(host) ?? host}/v2/${name}/`);
  }

  /** Returns the digest of a tag without its manifest; undefined when the registry does not name it. */
  async digestOf(version: string): Promise<string | undefined> {
    const answer = await this.#fetch(new URL(`manifests/${version}`, this.#base), {
      ...{ method: 'HEAD', accept: ACCEPTED_MANIFESTS, mostBytes: 0 },
      what: `manifest ${version}`,
    });
    return digestHeader(answer);
  }

  /** Returns the manifest of a tag or digest. Its digest is computed, and equals the one that was named. */
  async manifest(version: string, size?: number): Promise<ReceivedManifest> {
    const { bytes, headers } = await this.#fetch(new URL(`manifests/${version}`, this.#base), {
      ...{ method: 'GET', accept: ACCEPTED_MANIFESTS, mostBytes: LIMITS.manifestBytes },
      what: `manifest ${version}`,
    });
    const named = isDigest(version) ? version : digestHeader({ headers });
    const digest = digestOf(bytes, named);
    if ((named !== undefined && digest !== named) || (size !== undefined && bytes.length !== size)) {
      throw new ArtifactProblem(
        `the manifest ${version} from ${this.#base.host} does not have its digest or size`,
      );
    }
    const contentType = headers['content-type'];
    return { bytes, digest, contentType: typeof contentType === 'string' ? contentType : undefined };
  }

  /** Returns the bytes of a blob, which have its digest and its size. */
  async blob({ digest, size }: Descriptor): Promise<Buffer> {
    const { bytes } = await this.#fetch(new URL(`blobs/${digest}`, this.#base), {
      ...{ method: 'GET', accept: '*/*', mostBytes: size },
      what: `blob ${digest}`,
    });
    if (bytes.length !== size || digestOf(bytes, digest) !== digest) {
      throw new ArtifactProblem(
        `the blob ${digest} from ${this.#base.host} does not have its digest or size`,
      );
    }
    return bytes;
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  /** Sends a request, and once more with an authorization when the registry demands one. */
  async #fetch(url: URL, wanted: Request): Promise<Answer> {
    let answer = await this.#follow(url, wanted);
    if (answer.status === 401) {
      this.#authorization = await this.#authorize(answer);
      answer = await this.#follow(url, wanted);
    }
    if (answer.status === 200) return answer;
    throw problemOf(answer, this.#base.host, wanted.what, this.#options);
  }

  /** Sends a request and follows redirects. The authorization is for the registry itself; the challenge of another host is not answered. */
  async #follow(first: URL, wanted: Request): Promise<Answer> {
    let url = first;
    for (let hop = 0; hop <= LIMITS.redirects; hop++) {
      const isOwn = url.origin === this.#base.origin;
      const authorization = isOwn ? this.#authorization : undefined;
      const answer = await this.#send(url, wanted, authorization);
      const { location } = answer.headers;
      if (answer.status < 300 || answer.status >= 400 || typeof location !== 'string') {
        if (isOwn || answer.status === 200) return answer;
        throw new ArtifactProblem(
          `${url.host}, to which ${this.#base.host} redirects, answers ${answer.status}`,
        );
      }
      url = this.#redirected(location, url);
    }
    throw new ArtifactProblem(`${this.#base.host} redirects more than ${LIMITS.redirects} times`);
  }

  #redirected(location: string, from: URL): URL {
    const url = URL.parse(location, from.href);
    if (!url || !isReachedSafely(url, from))
      throw new ArtifactProblem(`${from.host} redirects to a URL that is not https`);
    if (url.username !== '' || url.password !== '') {
      throw new ArtifactProblem(`${from.host} redirects to a URL with credentials`);
    }
    return url;
  }

  async #authorize({ headers }: Answer): Promise<string> {
    const { host, name } = this.#options;
    const header = headers['www-authenticate'];
    const challenge = parseChallenge(Array.isArray(header) ? header.join(', ') : header);
    if (!challenge)
      throw new ArtifactProblem(`${host} demands an authentication that is neither Basic nor Bearer`);
    const credentials = this.#options.credentialsFor(host);
    if (challenge.scheme === 'basic') {
      if (!credentials) throw deniedBy(host, 'demands credentials', this.#options);
      return basicAuthorization(credentials);
    }
    const url = tokenUrl(challenge, this.#base, name);
    const isTrusted = isSameDomain(this.#base.hostname, url.hostname);
    const sent = isTrusted ? credentials : this.#options.credentialsFor(url.host);
    if (credentials && !sent) {
      throw new ArtifactProblem(
        `${host} sends credentials to ${url.host}, which is in another domain; add credentials for ${url.host} to the Secret`,
      );
    }
    if (!isReachedSafely(url, this.#base)) {
      throw new ArtifactProblem(`the token service that ${host} names is not at an https URL`);
    }
    const wanted = {
      method: 'GET',
      accept: 'application/json',
      mostBytes: LIMITS.tokenBytes,
      what: 'token',
    } as const;
    const answer = await this.#send(url, wanted, sent && basicAuthorization(sent));
    if (answer.status === 401 || answer.status === 403)
      throw deniedBy(url.host, 'refuses a token', this.#options);
    if (answer.status !== 200) throw problemOf(answer, url.host, 'token', this.#options);
    return bearerAuthorization(answer.bytes);
  }

  async #send(
    url: URL,
    { method, accept, mostBytes }: Request,
    authorization: string | undefined,
  ): Promise<Answer> {
    const { signal } = this.#options;
    try {
      const response = await sendRequest(this.#agentFor(url), url.href, {
        method,
        headers: {
          accept,
          'user-agent': 'pergola',
          ...(authorization === undefined ? {} : { authorization }),
        },
        signal,
        silenceMs: TIMEOUT_MS,
      });
      const { statusCode: status = 0, headers } = response;
      if (status === 200) return { status, headers, bytes: await bodyOf(response, mostBytes, url.host) };
      // The text of other answers is not read.
      response.destroy();
      return { status, headers, bytes: Buffer.alloc(0) };
    } catch (error) {
      throw error instanceof ArtifactProblem ? error : unreachable(url, error as Error, signal);
    }
  }

  #agentFor({ protocol, href }: URL): HttpAgent {
    const { allowsLoopback, ca } = this.#options;
    const agent =
      this.#agents.get(protocol) ??
      guardedAgentFor(href, allowsLoopback, { maxSockets: 2, ...(ca === undefined ? {} : { ca }) });
    this.#agents.set(protocol, agent);
    return agent;
  }
}

async function bodyOf(body: IncomingMessage, mostBytes: number, host: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    // Leaving the loop closes the connection.
    if (length > mostBytes) {
      throw new ArtifactProblem(`an answer of ${host} is longer than ${mostBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function digestHeader({ headers }: Pick<Answer, 'headers'>): string | undefined {
  const digest = headers['docker-content-digest'];
  return typeof digest === 'string' && isDigest(digest) ? digest : undefined;
}

function problemOf(
  { status, headers }: Answer,
  host: string,
  what: string,
  options: RegistryOptions,
): ArtifactProblem {
  switch (status) {
    case 401:
    case 403:
      return deniedBy(host, 'denies access to the repository', options);
    case 404:
      return new ArtifactProblem(`${host} has no ${what} in ${options.name}`);
    case 429:
      return new ArtifactProblem(
        `${host} limits the rate of requests (429)`,
        retryAfterMs(headers['retry-after']),
      );
    default:
      return new ArtifactProblem(
        `${host} answers ${status} to the request for the ${what}`,
        retryAfterMs(headers['retry-after']),
      );
  }
}

function deniedBy(host: string, what: string, options: RegistryOptions): ArtifactProblem {
  const hasCredentials = options.credentialsFor(options.host) !== undefined;
  const hint = hasCredentials
    ? 'the credentials of the Secret are wrong, or may not read it'
    : `there are no credentials for ${options.host}; name a Secret that has them in spec.ociArtifact.secretRef`;
  return new ArtifactProblem(`${host} ${what}: ${hint}`);
}

function retryAfterMs(header: string | readonly string[] | undefined): number | undefined {
  const seconds = Number(header);
  return seconds > 0 ? Math.min(seconds * 1000, MOST_RETRY_MS) : undefined;
}

/** Returns the problem of a request without an answer. Of the error only its code is printed: the message of a TLS error has names of a
 *  certificate, which are text of another party. */
function unreachable({ host }: URL, error: Error, signal: AbortSignal): ArtifactProblem {
  const causes = [error, error.cause].filter((one) => one instanceof Error);
  if (causes.some((one) => one instanceof AddressRefused)) {
    return new ArtifactProblem(
      `the address of ${host} is not one of a registry: it is link-local, or on this machine`,
    );
  }
  if (signal.aborted)
    return new ArtifactProblem(
      `the download from ${host} takes longer than ${LIMITS.downloadMs / 1000} seconds`,
    );
  const code = causes
    .map((one) => (one as NodeJS.ErrnoException).code)
    .find((one) => typeof one === 'string');
  return new ArtifactProblem(`${host} does not answer: ${code ?? 'the connection was closed'}`);
}
