/** The hosts that the operator may request artifacts from.
 *  Not here: the addresses of a host (@pergola/engine/addresses), the hosts that the grants of an Engine cover (grants/needs.ts). */
import type { AllowsLoopback } from '@pergola/engine/addresses';
import { isMatch } from '../grants/grants.ts';

export type AddressPolicy = {
  /** Patterns of hosts, with a port if the repository names one: `ghcr.io`, `*.example.com`, `registry.example.com:5000`. */
  readonly hosts: readonly string[];
  /** True when a registry may be on this machine, as for the command line. */
  readonly allowsLoopback: boolean;
};

/** Returns why the host may not be requested; undefined when it may. */
export function hostProblem(host: string, { hosts }: AddressPolicy): string | undefined {
  return hosts.some((pattern) => isMatch(pattern, host))
    ? undefined
    : `the operator does not request artifacts from ${host}; its option --registries lists the hosts`;
}

/** Returns the hosts that may be on this machine: those of a registry that the list names without a pattern, all for the command line. */
export function loopbackFor(host: string, policy: AddressPolicy): AllowsLoopback {
  const isAllowed = policy.allowsLoopback || policy.hosts.includes(host);
  return () => isAllowed;
}
