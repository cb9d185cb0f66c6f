/** Tests `pergola init` on whole databases, each in a style of its own: `golden/<case>/schema.sql` is the database, `resources/` what init
 *  writes, `summary.txt` what it prints. The resources become Ready without an edit. After `change.sql`, `again/` has the files that a
 *  second run adds, and `again.txt` what it prints; what exists is unchanged. `make golden` (UPDATE_GOLDEN=1) rewrites
 *  them.
 *  Not here: messages and flags (golden.test.ts). */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { run as apply } from '../../operator/commands/apply.ts';
import { run as validate } from '../../operator/commands/validate.ts';
import { createDatabase } from '../../testing/database.ts';
import { startTestEngine } from '../../testing/engine.ts';
import { captureOutput } from '../../testing/output.ts';
import { run as init } from '../init.ts';
import { compareFile, compareFolder, contentOf, writeTo } from '../testing/golden-folder.ts';

type Case = {
  readonly name: string;
  /** The schemas, all by default. */
  readonly schemas?: readonly string[];
  /** Rows for the request. */
  readonly rows: string;
  readonly request: string;
  readonly data: unknown;
  /** A request for what the role does not see. */
  readonly hidden: string;
};

const CASES: readonly Case[] = [
  {
    name: 'shop',
    rows: `
      insert into "Countries" ("IsoCode", "Name") values ('SE', 'Sweden');
      insert into "Customers" ("CustomerId", "FirstName", "LastName", "EMail", "PasswordHash", "ReferredById") values
        ('00000000-0000-0000-0000-000000000001', 'Ada', 'L', 'a@example.org', 'x', null),
        ('00000000-0000-0000-0000-000000000002', 'Bob', 'M', 'b@example.org', 'x', '00000000-0000-0000-0000-000000000001');
      insert into "Addresses" ("CustomerId", "Street", "CountryId") values ('00000000-0000-0000-0000-000000000001', 'Main', 1);
      insert into "Orders" ("CustomerId", "BillingAddressId", "Total") values ('00000000-0000-0000-0000-000000000001', 1, 2000);
      insert into "Products" values (1, 'P1', 'Pen', null, 2);
      refresh materialized view "ProductSales"`,
    request: `{
      LargeOrders { Total Customer { FullName ReferredCustomers { FirstName } } Order { Status BillingAddress { Street } ShippingAddress { Street } } }
      Customers(where: {FirstName: {_eq: "Ada"}}) { OrderSummaries { CustomerName } }
      Products { ProductSale { Sold Product { SKU } } }
      ActiveCustomers(where: {FullName: {_eq: "Bob M"}}) { Customer { ReferredBy { FirstName } } }
    }`,
    data: {
      LargeOrders: [
        {
          Total: 2000,
          Customer: { FullName: 'Ada L', ReferredCustomers: [{ FirstName: 'Bob' }] },
          Order: { Status: 'Draft', BillingAddress: { Street: 'Main' }, ShippingAddress: null },
        },
      ],
      Customers: [{ OrderSummaries: [{ CustomerName: 'Ada L' }] }],
      Products: [{ ProductSale: { Sold: null, Product: { SKU: 'P1' } } }],
      ActiveCustomers: [{ Customer: { ReferredBy: { FirstName: 'Ada' } } }],
    },
    hidden: '{ LargeOrders { Customer { PasswordHash } } }',
  },
  {
    name: 'tracker',
    rows: `
      insert into tenants (id, name, slug) values ('00000000-0000-0000-0000-00000000000a', 'A', 'a'), ('00000000-0000-0000-0000-00000000000b', 'B', 'b');
      insert into auth.users (id, email, password_digest) values ('00000000-0000-0000-0000-000000000001', 'a@example.org', 'x');
      insert into memberships select id, '00000000-0000-0000-0000-000000000001', null, 'owner' from tenants;
      insert into projects select id, 1, 'Project of ' || name, 'P', null from tenants;
      insert into issues (tenant_id, project_id, id, title, reporter_id, assignee_id)
        select id, 1, 1, 'Issue of ' || name, '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000001' from tenants;
      insert into issues (tenant_id, project_id, id, title, reporter_id, parent_issue_id)
        values ('00000000-0000-0000-0000-00000000000a', 1, 2, 'Child', '00000000-0000-0000-0000-000000000001', 1)`,
    request: `{
      reporting_open_issues(where: {id: {_eq: 1}}, order_by: {title: asc}) {
        title project { name } issue { child_issues { title } } assignee { role user { email } }
      }
      projects(where: {name: {_like: "%A"}}) { open_issues { title } open_issues_of_projects { open } }
    }`,
    data: {
      reporting_open_issues: [
        {
          title: 'Issue of A',
          project: { name: 'Project of A' },
          issue: { child_issues: [{ title: 'Child' }] },
          assignee: { role: 'owner', user: { email: 'a@example.org' } },
        },
        {
          title: 'Issue of B',
          project: { name: 'Project of B' },
          issue: { child_issues: [] },
          assignee: { role: 'owner', user: { email: 'a@example.org' } },
        },
      ],
      projects: [
        {
          open_issues: [{ title: 'Issue of A' }, { title: 'Child' }],
          open_issues_of_projects: [{ open: 2 }],
        },
      ],
    },
    hidden: '{ reporting_open_issues { assignee { user { api_token } } } }',
  },
  {
    name: 'styles',
    // The views of the schema api are in the place of tables that are not served.
    schemas: ['api', 'legacy', 'oracle', 'prisma'],
    rows: `
      insert into prisma."User" values ('u', 'u@example.org', 'U');
      insert into prisma."Post" values ('p', 'Title', true, 'u', null);
      insert into legacy.tbl_customer values (1, 'C');
      insert into legacy.tbl_order values (1, 1, null);
      insert into private.customers values (1, 'C', 'secret');
      insert into private.orders values (1, 1);
      insert into oracle."DEPARTMENTS" values (1, 'D', null);
      insert into oracle."EMPLOYEES" values (1, 'E', null, 1)`,
    request: `{
      PrismaUser { authoredPosts { title postStats { titleLength author { name } } } reviewedPosts { id } }
      legacy_tbl_customer { orders { id } orders_2 { id } order_totals { orders customer { name } } }
      ORACLE_EMP_DETAILS_VIEW { EMPLOYEE { MANAGER { LAST_NAME } } DEPARTMENT { EMP_DETAILS { LAST_NAME } } }
      api_customer { orders { id customer { name } } }
    }`,
    data: {
      PrismaUser: [
        {
          authoredPosts: [{ title: 'Title', postStats: { titleLength: 5, author: { name: 'U' } } }],
          reviewedPosts: [],
        },
      ],
      legacy_tbl_customer: [
        { orders: [{ id: 1 }], orders_2: [], order_totals: [{ orders: 1, customer: { name: 'C' } }] },
      ],
      ORACLE_EMP_DETAILS_VIEW: [
        { EMPLOYEE: { MANAGER: null }, DEPARTMENT: { EMP_DETAILS: [{ LAST_NAME: 'E' }] } },
      ],
      api_customer: [{ orders: [{ id: 1, customer: { name: 'C' } }] }],
    },
    hidden: '{ api_customer { secret_note } }',
  },
];

test.each(CASES)(
  'init writes $name as people would',
  async ({ name, schemas = [], ...subject }) => {
    const golden = join(import.meta.dirname, 'golden', name);
    const root = mkdtempSync(join(tmpdir(), 'pergola-init-'));
    const folder = join(root, 'resources');
    const database = await createDatabase();
    await database.sql(readFileSync(join(golden, 'schema.sql'), 'utf8'));
    await database.sql(subject.rows);
    const engine = await startTestEngine({ databaseUrl: database.url });
    const plain = (text: string) =>
      text.replaceAll(root, '.').replaceAll(new URL(database.url).pathname.slice(1), name);
    const said = async (command: typeof init, ...argv: string[]) => {
      const output = captureOutput();
      const code = await command(argv);
      vi.restoreAllMocks();
      return { code, text: plain(output.text) };
    };
    const options = ['--role', 'reader', '--readable', ...schemas.flatMap((schema) => ['--schema', schema])];
    const fromDatabase = () => said(init, '--database-url', database.url, '-o', folder, ...options);
    const applied = () =>
      said(apply, '-f', folder, '--engine', engine.url, '--admin-secret', engine.adminSecret);
    try {
      const first = await fromDatabase();
      expect(first.code).toBe(0);
      compareFile(join(golden, 'summary.txt'), first.text);
      compareFolder(join(golden, 'resources'), folder, plain);
      expect(await said(validate, '-f', folder)).toMatchObject({ code: 0 });
      expect(await applied()).toMatchObject({ code: 0 });
      expect(await engine.graphql(subject.request, { role: 'reader' })).toEqual({ data: subject.data });
      expect((await engine.graphql(subject.hidden, { role: 'reader' })).errors).toHaveLength(1);

      const before = contentOf(folder);
      expect((await fromDatabase()).text).toContain(`Nothing in the database ${name} is new.\n`);
      expect(contentOf(folder)).toEqual(before);
      if (!existsSync(join(golden, 'change.sql'))) return;

      await database.sql(readFileSync(join(golden, 'change.sql'), 'utf8'));
      const second = await fromDatabase();
      expect(second.code).toBe(0);
      compareFile(join(golden, 'again.txt'), second.text);
      const after = contentOf(folder);
      for (const [file, text] of before) {
        if (file !== '.pergola-init') expect([file, after.get(file)]).toEqual([file, text]);
      }
      for (const [file, text] of after) if (!before.has(file)) writeTo(join(root, 'added', file), text);
      compareFolder(join(golden, 'again'), join(root, 'added'), plain);
    } finally {
      await engine.close();
      await database.drop();
      rmSync(root, { recursive: true });
    }
  },
  60_000,
);
