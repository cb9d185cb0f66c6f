/** The types and reasons of conditions: their meaning and what to do. In the definitions both are open strings, so that an operator newer
 *  than its definitions can write a status; here they are closed lists. The reference page, the health of a resource and the reasons of
 *  Events derive from them.
 *  Not here: the computation of a condition (status/conditions.ts). */

export const CONDITION_TYPES = {
  Ready: 'The summary: True when the engine serves what the resource says. The message is one sentence.',
  Reconciling: 'Present while the operator waits or tries again by itself.',
  Stalled: 'Present when nothing improves without a change by a person.',
  Drifted: 'Present while an object differs from the resource and the drift policy keeps the difference.',
  GrantMissing:
    'Present while a resource that has its objects needs a grant that versions before did not need. The message has the grant.',
  Reachable: 'Of an Engine: True when the engine answers.',
  MetadataConsistent: 'Of an Engine: True when every metadata object fits its database or service.',
  Delivered:
    'Of a ScheduledEvent: True when its webhook has accepted the call. False while it waits, and when it was not delivered.',
  Passed:
    'Of a PermissionTest: True when the response was the expected one. Unknown while the test has not run.',
  Contested: 'Of an Engine: present while another operator reconciles the same Engine.',
} as const;
export type ConditionType = keyof typeof CONDITION_TYPES;

export type ReasonRow = {
  readonly means: string;
  /** The action that resolves it. */
  readonly remedy: string;
  /** `late`: a resource that is not Ready for this reason is `Stalled` after the progress deadline, since the reason may go away without
   *  a change of the resource. `at once`: it is `Stalled` at once. `never`: it is Ready or paused, or the reason is not one of Ready. */
  readonly stalls: 'never' | 'late' | 'at once';
};

const row = (stalls: ReasonRow['stalls'], means: string, remedy: string): ReasonRow => ({
  stalls,
  means,
  remedy,
});

/** The reasons of conditions and Events. Health scripts read them, so a new one is a change of the API. */
export const REASONS = {
  Applied: row(
    'never',
    'The engine serves it. The message names replicas that still do not serve it after half a minute. With `Drifted`, someone changed an object and the policy leaves it.',
    'Nothing.',
  ),
  Applying: row(
    'never',
    'The engine has needed more than a second to respond; or replicas do not serve it yet, and the message names them.',
    'Wait: half a minute at most for a replica. If a replica never follows, check its pod, and network policies between it and the operator.',
  ),
  Paused: row(
    'never',
    '`spec.suspend`, or an annotation `pause-until` or `plan`: its objects stay as they are.',
    'Remove it, or wait until it ends.',
  ),
  DependencyNotReady: row(
    'late',
    'Something it needs does not exist: a table, a column or a function in the database, another resource, an Engine, a key of a ConfigMap. The operator retries by itself, after a migration within half a minute.',
    'Create what the message names.',
  ),
  EngineUnreachable: row(
    'late',
    'The engine does not respond, something else responds at its endpoint (the message says in which form, and repeats nothing of it), or other clients change its metadata continuously. The engine continues to serve what it has.',
    'Check its pods, its Service, and network policies between it and the operator; check `spec.endpoint` and, for TLS, `spec.tls.caRef`. A redirect is not followed. Update an engine that is older than the operator.',
  ),
  EngineRejectedCredentials: row(
    'late',
    'The engine rejects the admin secret.',
    "Put the engine's admin secret into the Secret that `adminSecretRef` names. To change it: [Replacing the admin secret](../guides/operating.md#replacing-the-admin-secret).",
  ),
  RemoteUnavailable: row(
    'late',
    "The remote schema's service does not respond.",
    'Check the service and its URL.',
  ),
  SourceUnavailable: row(
    'late',
    'The database of its source does not respond, or refuses the engine. The object is in the metadata; requests to it fail until the database is back.',
    'Check the database, `connection`, and the variables of the engine that it names.',
  ),
  InvalidSpec: row(
    'at once',
    'The resource contradicts itself, or exceeds a limit. The message names the field.',
    'Change the resource.',
  ),
  RejectedByEngine: row(
    'at once',
    'The engine rejects it: an operator is unknown, a value has the wrong type. The last accepted version stays in effect; the message says which, and names the field: `at spec.select.filter.title._gt_lt`. An unreadable certificate is rejected as well.',
    'Change the resource, or the database.',
  ),
  DistributionUnsupported: row(
    'at once',
    'The tables of a Citus cluster are distributed in a way that the declaration cannot be served with: a function in SQL over distributed tables, a computed field whose function reads others, an event trigger on a distributed table. The message says what to do.',
    'Change the resource or the distribution: [More than one machine](../guides/more-than-one-machine.md).',
  ),
  NotEnforced: row(
    'at once',
    'The engine has it, but it has no effect: an entry of the allow list while the allow list is off; a restriction or a permission of the role `admin`; a query of a QueryCollection that is not GraphQL; a table whose name GraphQL forbids; a name that begins with two underscores; a schedule without a time; a webhook or a collector that is no URL; a method or a header that HTTP forbids; a template of a transform that cannot be parsed; a variable in the path of a RestEndpoint that its query does not declare; a setting of other engines that this one only keeps.',
    'Start the engine with the option the message names, or correct or remove the declaration.',
  ),
  PartlyServed: row(
    'at once',
    'The parents of an inherited role disagree about a permission. The role has what they agree on; the message names what it does not inherit.',
    'Give the inherited role a permission of its own there, or make those of the parents equal.',
  ),
  Conflict: row(
    'at once',
    'The same object belongs to another resource, or to the operator of another cluster. The message names the owner and why it has the object, or the namespace it is [reserved](../guides/tenants.md#who-keeps-a-name) for. See [two resources for one object](../guides/troubleshooting.md#two-resources-for-one-object).',
    'Remove one of the two, as the message says, or wait.',
  ),
  AnotherOperator: row(
    'at once',
    'Another operator reconciles the same resource or Engine. The message names its manager, or its lease and identity. Both operators write the same objects and statuses.',
    'Let only one operator watch the namespace: check `--watch-namespaces`, and that releases of the chart in one cluster do not overlap. If that operator no longer exists, set `operator.clusterName` to the name in the message.',
  ),
  MigrationPending: row(
    'never',
    'A reason of plans only: files of a Migration would run. What the message of another resource of the source says is missing may exist afterwards.',
    'Nothing.',
  ),
  MigrationRunning: row(
    'late',
    'The migrations of a source are running, here or elsewhere. Resources of the source wait with the objects that they have.',
    'Wait. An index on a large table takes long; the database shows the statement in `pg_stat_activity`.',
  ),
  MigrationFailed: row(
    'late',
    'A statement failed, a file would break what the API serves, or a version needs a decision. The message says which. Resources of the source wait with the objects that they have; the operator tries again.',
    'Correct the file, the data or the resources. After `failed` or `unknown` see [migrations](../guides/migrations.md#the-record).',
  ),
  ArtifactUnavailable: row(
    'late',
    'The OCI artifact of a Migration could not be downloaded, or its content is refused: the registry does not answer or denies access, a digest is wrong, an archive has links, or is too large. The message says which. Resources of the source wait with the objects that they have; the operator tries again, after at most ten minutes.',
    'Correct `spec.ociArtifact`, its Secret, or the artifact: [Migrations from an OCI artifact](../guides/migrations.md#from-an-oci-artifact). To try at once: the annotation `pergola.dev/reconcile-now`.',
  ),
  AdoptionRequired: row(
    'at once',
    'The object exists and no resource owns it: it was created by hand or with another tool. It differs, or `adoptionPolicy` is `Never`.',
    'As the message says: set `pergola.dev/adopt: "true"` or `adoptionPolicy: Always`, or change the resource until both are equal. With `adoptionPolicy: Never` an equal object needs `IfEqual`.',
  ),
  RefNotPermitted: row(
    'at once',
    'The Engine does not admit this namespace.',
    'Change `allowedNamespaces` of the Engine, or a label of the namespace.',
  ),
  NotPermitted: row(
    'at once',
    'No grant of the Engine covers the objects of the resource. The message says which grant to add, or what the nearest one lacks.',
    'Add it to `grants` of the Engine: [Several teams](../guides/tenants.md).',
  ),
  GrantMissing: row(
    'never',
    'A reason of the condition `GrantMissing`: no grant of the Engine covers what the resource needs since an upgrade of the operator. Its objects stay, and so may the resource change them in everything else. New resources need the grant.',
    'Add what the message says to `grants` of the Engine: [Several teams](../guides/tenants.md#upgrading).',
  ),
  SecretNotFound: row(
    'late',
    'A Secret or a key in it does not exist or may not be read.',
    'Create it; the operator sees it at once.',
  ),
  DriftReported: row(
    'never',
    'A reason of the condition `Drifted`: the message says what differs from the resource.',
    'Revert it, or change the resource, or set `driftPolicy: Correct`.',
  ),
  DriftCorrected: row(
    'never',
    'A reason of Events only: another client changed an object, and the operator restored it. The message says what differed. The counter `pergola_drift_corrected_total` counts the objects.',
    'Nothing; or find the client, which still has the admin secret.',
  ),
  Scheduled: row(
    'never',
    'A reason of the condition `Delivered`: the time of the event has not come, or its delivery is tried again.',
    'Nothing.',
  ),
  Delivered: row(
    'never',
    'A reason of the condition `Delivered`: the webhook has accepted the call. The event is not delivered again.',
    'Nothing.',
  ),
  DeliveryFailed: row(
    'never',
    'A reason of the condition `Delivered`: the webhook failed more often than `retry.limit`. The operation `get_scheduled_event_invocations` returns its responses.',
    'Correct the webhook, then change `scheduledAt`: a new time is a new event.',
  ),
  DeliveryMissed: row(
    'never',
    'A reason of the condition `Delivered`: the webhook could not be called within `toleranceSeconds` of the time.',
    'Change `scheduledAt`, or `toleranceSeconds` before the time comes.',
  ),
  DeliveryCancelled: row(
    'never',
    'A reason of the condition `Delivered`: somebody deleted the event in the engine before it was delivered.',
    'Change `scheduledAt`, if it should be delivered after all.',
  ),
  TestPassed: row(
    'never',
    'A reason of the condition `Passed`: the response to the request of a PermissionTest was the expected one, at the last change of the metadata or since.',
    'Nothing.',
  ),
  TestFailed: row(
    'at once',
    'The response to the request of a PermissionTest differs from the expected one. The message says where, without values. Of an Engine or a Table: a test whose `gate` names it fails. The resources are served all the same.',
    'Run `pergola test`, or send the request as the role, to see the difference. Correct the permission, the test, or the data.',
  ),
  NotRun: row(
    'never',
    'A reason of the condition `Passed`: the operator has not run the PermissionTest. The message says why.',
    'Nothing, if only `pergola test` should run it. Otherwise do what the message says: [Testing permissions](../guides/testing-permissions.md#in-a-cluster).',
  ),
  PruneHeld: row(
    'at once',
    'Too many objects of one namespace would be deleted at once, or their resources were deleted with the definition of their kind. Each stays until its deletion is confirmed or a resource claims it again.',
    'If it is intended: `pergola.dev/confirm-prune`, see [GitOps](../guides/gitops.md). If not, restore the resources.',
  ),
  ChangeHeldBack: row(
    'at once',
    'The Engine has `policies.holdBack`, and the change of the resource would break clients of a role or let a role reach more rows, or it is not known whether it would. The engine serves what it had; the message says what changes, and for which role. Of an Engine: the deletion of a resource is held back.',
    'If it is intended: `pergola.dev/confirm-change` with the hash in the message, see [Holding back changes](../guides/reviewing-changes.md#holding-back-changes). If not, undo the change.',
  ),
  Deleting: row(
    'late',
    'It is being deleted with `waitForDeletion`, and the engine still has an object of it, or of a resource of the Engine. The message says which, and why.',
    'Wait: it is deleted after `--progress-deadline-seconds` at the latest. See [Deleting](../guides/gitops.md#deleting).',
  ),
} as const satisfies Record<string, ReasonRow>;
export type Reason = keyof typeof REASONS;
