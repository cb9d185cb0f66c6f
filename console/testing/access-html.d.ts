export function summaryHtml(cell: object | null, isAdmin: boolean): string;
export function detailsHtml(table: object, role: string, operation: string): string;
