import type { Db } from "@tidewater/db";

export async function appointmentsOfDay(db: Db, clinicId: string, day: string) {
  return db.selectFrom("active_appointments").selectAll().where("clinic_id", "=", clinicId).where("day", "=", day).execute();
}

export async function insertAppointment(db: Db, clinicId: string, slotId: string, reason: string) {
  return db.insertInto("appointments").values({ clinic_id: clinicId, slot_id: slotId, reason }).returning("id").executeTakeFirstOrThrow();
}
