package process

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// attributes returns the attributes that make a program the leader of a process group, and kill the
// program if this process dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killMarked kills all processes with the mark in their environment: the children of the program,
// in any process group and with any parent.
func killMarked(mark string) {
	killed := map[int]bool{}
	for again := true; again; { // processes may start others meanwhile
		again = false
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return
		}
		for _, entry := range entries {
			pid, err := strconv.Atoi(entry.Name())
			if err != nil || killed[pid] {
				continue
			}
			if killIfMarked(pid, mark) {
				killed[pid], again = true, true
			}
		}
	}
}

func killIfMarked(pid int, mark string) bool {
	p, err := os.FindProcess(pid) // before reading the environment, since the id may be reused afterwards
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || !bytes.Contains(append(env, 0), append([]byte(mark), 0)) {
		return false
	}
	return p.Kill() == nil
}
