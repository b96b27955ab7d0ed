import * as Radix from "@radix-ui/react-dialog";
import type { ReactNode } from "react";
import { overlay, panel } from "./Dialog.css";

export function Dialog({ title, children, trigger }: { title: string; children: ReactNode; trigger: ReactNode }) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Overlay className={overlay} />
        <Radix.Content className={panel}><Radix.Title>{title}</Radix.Title>{children}</Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
