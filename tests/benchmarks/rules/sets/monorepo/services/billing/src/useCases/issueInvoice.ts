import { type Db, withTransaction } from "@tidewater/db";
import { nextNumber, saveInvoice } from "../invoices.repository";

export async function issueInvoice(db: Db, clinicId: string, draftId: string) {
  return withTransaction(db, async (tx) => saveInvoice(tx, clinicId, draftId, await nextNumber(tx, clinicId)));
}
