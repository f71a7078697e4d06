package hostile

import "syscall"

// endWithParent makes the system kill a process when the thread that started it ends.
func endWithParent(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }
